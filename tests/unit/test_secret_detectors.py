"""All token formats of detect-secrets are masked here, and it finds no secret in the rules."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from detect_secrets import plugins
from detect_secrets.plugins.base import RegexBasedDetector

from pytest_dvwiki.redact import redact

from .secret_samples import filled

if TYPE_CHECKING:
    import re

UNFIT = {
    "aws.{0,20}?": (
        "AWS secrets behind any words",
        "awsize key of the pass '" + "0011223344556677889900112233445566778899" + "'",
    ),
    "AP[": ("Artifactory passwords", "driver APBTransactionItem done"),
    "[MNO][": ("Discord tokens", "at M00000000000000000000000.u_fifo.abcdefghijklmnopqrstuvwxyz0"),
    r"\d{8,10}:": ("Telegram tokens", "0000001000:" + "00112233445566778899aabbccddeeff001"),
    "(?:25[0-5]": ("public addresses", "read reg 4.12.0.1"),
    "(?:softlayer|sl)": ("SoftLayer keys", "sl_key = " + "00112233445566778899aabbccddeeff" * 2),
    "(?:cloudant|cl|clou)": ("Cloudant keys", "cl_key = " + "00112233445566778899aabbccddeeff" * 2),
    "ibm_cloud|ibm": ("IBM keys", "key: " + "00112233445566778899aabbccddeeff001122334455"),
    "ibm(?:_|-|)cloud": ("IBM keys", "key: " + "00112233445566778899aabbccddeeff001122334455"),
    "(?:ibm)?[-_]?cos": (
        "IBM storage keys",
        "secret_key: " + "00112233445566778899aabbccddeeff0011223344556677" + " expected 0x12",
    ),
}
"""Detectors that flag normal output of a testbench, by a part of their expression, each with such a line."""


def _expressions() -> list[tuple[str, re.Pattern[str]]]:
    """Return the expressions for formats; the detectors of entropy and keywords flag every line of a testbench."""
    found = []
    for module in pkgutil.iter_modules(plugins.__path__):
        for name, kind in inspect.getmembers(
            importlib.import_module(f"{plugins.__name__}.{module.name}"), inspect.isclass
        ):
            if (
                issubclass(kind, RegexBasedDetector)
                and kind.__module__.endswith(f".{module.name}")
                and kind is not RegexBasedDetector
            ):
                found += [(name, each) for each in vars(kind)["denylist"]]
    return found


EXPRESSIONS = _expressions()


def _unfit(expression: re.Pattern[str]) -> str | None:
    return next((part for part in UNFIT if part in expression.pattern), None)


SAMPLES = {
    "ArtifactoryDetector": ["AKCp<mixed:60>"],
    "AWSKeyDetector": ["AKIA<HEX:16>", "ASIA<HEX:16>"],
    "AzureStorageKeyDetector": ["AccountKey=<mixed:86>=="],
    "BasicAuthDetector": ["https://ci<hex:0>:<mixed:8>@git.example.com/x"],
    "CloudantDetector": [
        "https://ci<hex:0>:<hex:64>@ci.cloudant.com",
        "https://ci<hex:0>:abcdefghijklmnopqrstuvwx@ci.cloudant.com",
    ],
    "GitHubTokenDetector": [f"gh{kind}_<mixed:36>" for kind in "pousr"],
    "GitLabTokenDetector": [
        *(f"{kind}-<mixed:20>" for kind in ("glpat", "gldt", "glft", "glsoat", "glrt", "glcbt")),
        *("GR1348941<mixed:20>", "glimt-<mixed:25>", "glptt-<hex:40>", "glagent-<mixed:50>", "gloas-<hex:64>"),
    ],
    "JwtTokenDetector": ["eyJ<mixed:20>.eyJ<mixed:40>.<mixed:43>"],
    "MailchimpDetector": ["<hex:32>-us12"],
    "NpmDetector": ["//registry.example.com/:_authToken=npm<hex:0>_<mixed:36>"],
    "OpenAIDetector": ["sk-<mixed:20>T3BlbkFJ<mixed:20>", "sk-proj-<mixed:20>T3BlbkFJ<mixed:20>"],
    "PrivateKeyDetector": [
        f"-----BEGIN {kind}PRIVATE<hex:0> KEY{rest}-----"
        for kind, rest in (("DSA ", ""), ("EC ", ""), ("OPENSSH ", ""), ("PGP ", " BLOCK"), ("", ""), ("RSA ", ""))
    ]
    + ["---- BEGIN SSH2 ENCRYPTED PRIVATE<hex:0> KEY ----"],
    "PypiTokenDetector": ["pypi-AgEIcHlwaS5vcmc<mixed:80>", "pypi-AgENdGVzdC5weXBpLm9yZw<mixed:80>"],
    "SendGridDetector": ["SG.<mixed:22>.<mixed:43>"],
    "SlackDetector": ["xoxb-123456789012-<mixed:24>", "https://hooks.slack.com/services/T<hex:8>/B<hex:8>/<mixed:24>"],
    "SoftlayerDetector": ["https://api.softlayer.com/soap/v3/<hex:64>"],
    "SquareOAuthDetector": ["sq0csp-<mixed:43>"],
    "StripeDetector": ["sk_live_<mixed:24>", "rk_live_<mixed:24>"],
    "TwilioKeyDetector": ["AC<hex:32>", "SK<hex:32>"],
}
"""An example for each detector; a new version's detector without an example here needs a review."""
NOT_LINES = ("PuTTY-User-Key-File-" + "2",)
"""The first line of a file whose secret is in other lines, which a rule here masks."""


@pytest.mark.parametrize("name", sorted({name for name, _ in EXPRESSIONS}))
def test_what_a_detector_of_formats_finds_is_masked(name: str) -> None:
    expressions = [each for of, each in EXPRESSIONS if of == name and not _unfit(each)]
    texts = [filled(text.replace("<HEX", "<hex")) for text in SAMPLES.get(name, ())]
    texts = [text.upper() if name == "AWSKeyDetector" else text for text in texts]
    unknown = [each for each in expressions if not any(each.search(text) for text in texts)]
    assert not [each.pattern for each in unknown if each.pattern not in NOT_LINES], "detectors without a sample"
    for text in texts:
        found = [each.search(text) for each in expressions]
        secrets = [hit[0] for hit in found if hit]
        assert secrets, text
        assert not [secret for secret in secrets if secret in redact(f"sent {text} now")]


@pytest.mark.parametrize(("part", "line"), [(part, line) for part, (_, line) in UNFIT.items()])
def test_a_detector_that_is_left_out_flags_what_a_testbench_prints(part: str, line: str) -> None:
    expressions = [each for _, each in EXPRESSIONS if part in each.pattern]
    assert not expressions or any(each.search(line) for each in expressions)
    assert redact(line) == line


def test_no_scanner_flags_the_rules_and_their_tests() -> None:
    root = Path(__file__).parents[2]
    files = [root / "pytest_dvwiki" / "secrets.yaml", *root.glob("tests/*/*secret*.py"), root / "docs" / "secrets.md"]
    flagged = [
        f"{path.name}:{number}: {found[0]}"
        for path in files
        if path.is_file()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for _, expression in EXPRESSIONS
        if not _unfit(expression) and (found := expression.search(line))
    ]
    assert not flagged
