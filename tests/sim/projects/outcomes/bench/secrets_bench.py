"""A test that prints secrets next to its failure."""

from __future__ import annotations

import logging

import cocotb
from driver import settle

log = logging.getLogger("bench")
SECRETS = (
    "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "27000@licences.example.com",
    "carol:correct-horse",
    "swordfish-42-swordfish",
)


@cocotb.test()
async def tells_secrets(dut):
    await settle(dut)
    log.error("push with token %s failed", SECRETS[0])
    log.error("LM_LICENSE_FILE=%s", SECRETS[1])
    log.error("clone of https://%s@git.example.com/ip.git failed", SECRETS[2])
    print(f"password = {SECRETS[3]}")
    assert dut.ready.value, f"no vectors from https://{SECRETS[2]}@git.example.com/ip.git with {SECRETS[0]}"
