"""Rules for secrets mask secrets, and no name or output of a testbench, test or branch."""

from __future__ import annotations

import json
import random
import re
import sysconfig
from pathlib import Path

import pytest

from pytest_dvwiki import secret_rules
from pytest_dvwiki.redact import redact, redact_id

from .effort import seconds, takes_seconds_at_most
from .secret_samples import Form, filled, named, of_rules, samples, tokens

RULES = secret_rules.entries()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["id"])
def test_a_rule_masks_its_examples_and_leaves_its_counterexamples(rule: dict[str, object]) -> None:
    forms = [form for form in of_rules() if form.rule == rule["id"]]
    assert forms
    leaks = [form.text for form in forms if form.secret in redact(form.text) or "[redacted]" not in redact(form.text)]
    assert not leaks
    assert not [form.text for form in forms if redact(redact(form.text)) != redact(form.text)]
    eaten = {text: redact(text) for text in rule["counterexamples"] if redact(text) != text}  # type: ignore[attr-defined]
    assert not eaten


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["id"])
def test_each_rule_finds_a_secret_by_itself(rule: dict[str, object]) -> None:
    """Otherwise the test of a rule might pass because of another rule."""
    (alone,) = (each for each in secret_rules.rules() if each.id == rule["id"])
    for form in (form for form in of_rules() if form.rule == rule["id"]):
        found = [form.text[first:last] for first, last in alone.parts(form.text)]
        assert any(form.secret.rstrip("\n") in part or part in form.secret for part in found), form.text
        assert any(keyword in form.text.lower() for keyword in alone.keywords), form.text


@pytest.mark.parametrize("rule", [rule for rule in RULES if "prefixes" in rule], ids=lambda rule: rule["id"])
def test_a_token_that_is_too_short_is_none(rule: dict[str, object]) -> None:
    (alone,) = (each for each in secret_rules.rules() if each.id == rule["id"])
    assert not [token for token in tokens(rule, shorter=1) if list(alone.parts(f"x {token} y"))]


@pytest.mark.parametrize("form", list(named()), ids=lambda form: form.name)
def test_each_form_that_was_asked_for_is_masked(form: Form) -> None:
    assert form.secret not in redact(form.text)
    assert form.secret not in redact(f"12.00ns INFO cocotb.tb   sent {form.text}")


def test_the_wheel_brings_the_rules_without_what_tests_read() -> None:
    brought = json.loads(secret_rules.compiled())
    assert [rule["id"] for rule in brought] == [rule["id"] for rule in RULES]
    assert not any({"examples", "counterexamples", "samples"} & rule.keys() for rule in brought)


def test_names_of_tests_stay_distinct_and_begin_as_their_runner_does() -> None:
    runner = f"tests/test_x.py::test_x[{filled('ghp_<mixed:36>')}]"
    other = f"tests/test_x.py::test_x[{filled('ghp_<hex:36>')}]"
    masked = redact_id(runner)
    assert re.fullmatch(r"tests/test_x\.py::test_x\[\[redacted-[0-9a-f]{8}\]\]", masked)
    assert redact_id(other) != masked
    assert redact_id(f"{runner}::overflow") == f"{masked}::overflow"
    assert redact_id(masked) == masked == redact(masked)


# What stays


def _hex(draw: random.Random) -> str:
    return "".join(draw.choices("0123456789abcdef", k=draw.choice((2, 4, 8, 16, 32, 64))))


NUMBERS = (
    lambda draw: f"0x{_hex(draw)}",
    lambda draw: f"0x{_hex(draw).upper()}",
    _hex,
    lambda draw: _hex(draw).upper(),
    lambda draw: f"{draw.choice((8, 32, 128))}'h{_hex(draw)}",
    lambda draw: f"128'h{_hex(draw)}_{_hex(draw)}",
    lambda draw: f"32'd{draw.randrange(2**32)}",
    lambda draw: str(draw.randrange(10 ** draw.randrange(1, 12))),
    lambda draw: "0b" + "".join(draw.choices("01", k=8)),
    lambda draw: "".join(draw.choices("01xz", k=draw.choice((2, 4, 8, 64)))),
    lambda draw: f'x"{_hex(draw)}"',
    lambda draw: f"LogicArray('{''.join(draw.choices('01XZ', k=8))}', Range(7, 'downto', 0))",
    lambda draw: f"{draw.random() * 100:.3f}",
    lambda draw: f"b'\\x{draw.randrange(16, 256):02x}\\x{draw.randrange(16, 256):02x}'",
)
NAMES = re.findall(
    r"\S+",
    "key KEY0 KEY_REG aes_key AES_KEY secret_key private_key session_key access_key api_key key_share0 KEY_SHARE1_3 "
    "token lc_token unlock_token TOKEN_0 password PASSWORD_REG jtag_password secret SECRET0 auth_tag auth "
    "credential crc CRC32 crc_token data addr cookie magic_cookie pass_count pass PASS passwd passphrase nonce iv "
    "signature sig hash digest license root_key otp_secret creator_seed bearer basic account login authorization "
    "key[3] key[127:0] secret[0] u_core.key_q keymgr.sw_share0 data@0x10 hmac_key kmac.key encryption_key "
    "signing_key shared_key",
)
LINES = (
    "[SCBD] {name} mismatch: expected {expected} got {actual}",
    "{name}: expected {expected}, actual {actual}",
    "{name} expected={expected} actual={actual}",
    "{name} exp={expected} act={actual}",
    "AssertionError: {name} = {actual}, expected {expected}",
    "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] {name} exp:{expected} act:{actual}",
    "CRC mismatch: {name} expected {expected} actual {actual}",
    "{name} register read {actual}, expected {expected}",
    "reg {name} = {actual} (expected {expected})",
    "{name}={actual} expected {expected}",
    "{name}: {actual} != {expected}",
    "got {name}={actual} exp {name}={expected}",
    "{name} => got: {actual} expected: {expected}",
    '{{"{name}": "{actual}", "expected": "{expected}"}}',
    "got {name}: {actual}; want expected {expected}",
    "  {name:<20} | {expected:>20} | {actual:>20} | mismatch",
)


def _dump(draw: random.Random) -> str:
    address = f"{draw.randrange(2**32):08x}"
    bytes_ = [f"{draw.randrange(256):02x}" for _ in range(16)]
    return draw.choice(
        (
            f"{address}: {' '.join(bytes_)}",
            f"{address}:{_hex(draw)}",
            f"@{address} {' '.join(''.join(bytes_[at : at + 4]) for at in (0, 4, 8, 12))}",
            f"{address}  {' '.join(bytes_)}  |{''.join(chr(draw.randrange(33, 127)) for _ in bytes_)}|",
            f"mem[0x{address}] = {_hex(draw)} expected {_hex(draw)}",
        )
    )


def test_lines_of_a_testbench_keep_every_value() -> None:
    """Lines of scoreboards, CRCs, key registers and memory dumps."""
    draw = random.Random(11)
    lost = []
    for _ in range(4000):
        expected, actual = draw.choice(NUMBERS)(draw), draw.choice(NUMBERS)(draw)
        line = draw.choice(LINES).format(name=draw.choice(NAMES), expected=expected, actual=actual)
        masked = redact(line)
        if expected not in masked or actual not in masked:
            lost.append((line, masked))
    lost += [(line, redact(line)) for line in (_dump(draw) for _ in range(1000)) if redact(line) != line]
    assert not lost


def _real_names() -> set[str]:
    """Return the paths of installed packages, and their tests."""
    folder = Path(sysconfig.get_path("purelib"))
    files = sorted(folder.rglob("*.py"))
    names = {path.relative_to(folder).as_posix() for path in files}
    for path in (each for each in files if each.name.startswith("test_") and "tests" in each.parts):
        module, group = path.relative_to(folder).as_posix(), ""
        for found in re.finditer(
            r"^( *)(class|(?:async )?def) (\w+)", path.read_text("utf-8", "replace"), re.MULTILINE
        ):
            if found[2] == "class" and not found[1]:
                group = f"{found[3]}::"
            elif found[3].startswith("test"):
                names.add(f"{module}::{group if found[1] else ''}{found[3]}")
    return names


BRANCHES = re.findall(
    r"\S+",
    "main develop release/1.2.x v2.0.0-rc.1 feature/JIRA-1234-add-token-bucket fix/key-register-width "
    "hotfix/2024-01-31 dependabot/pip/requests-2.32.0 dependabot/npm_and_yarn/@babel/core-7.24.0 "
    "renovate/docker-python-3.x user/alice/wip pre-commit-ci-update-config pass-through-auth secret-reg-reset "
    "password-strength sk-learn-update hf_transfer-test "
    "gh-readonly-queue/main/pr-123-0123456789abcdef0123456789abcdef01234567 revert-456-feature/axi4-lite issue#77 "
    "test_api_key_rotation npm_scripts backport/8.1.x/13087-auth=none lic_server@site 1234-fix-x ci/token=off",
)


def test_ordinary_names_are_never_changed() -> None:
    names = _real_names()
    assert len(names) > 10_000
    changed = {name: redact_id(name) for name in (*names, *BRANCHES) if redact_id(name) != name or redact(name) != name}
    assert not changed


# What it costs

SHORT, LONG, STEEPEST, NOISE = 1000, 4000, 9, 0.0004


def _hostile(rule: dict[str, object], length: int) -> list[str]:
    """Return lines of a length that are slow for a rule: its words and repeated parts, many times."""
    (alone,) = (each for each in secret_rules.rules() if each.id == rule["id"])
    own = [*alone.keywords[:3], *(sample[: len(sample) // 2] for sample in samples(rule)[:2])]
    fills = [
        "a",
        "a.",
        "a-",
        "1",
        ": ",
        "_",
        "=",
        "'",
        '"',
        "x ",
        "@",
        "://a",
        "a:",
        "A1",
        "\\",
        *own,
        *(f"{word}=" for word in own),
    ]
    return [lead + (fill * length)[:length] for fill in fills for lead in ("", own[0], f"{own[0]} ")]


def _growth(rule: secret_rules.SecretRule, short: str, long: str) -> float:
    """Return the ratio of a rule's times on a long and a short line; 0 if they are too short to compare."""
    needed = seconds(lambda: list(rule.parts(long)))
    return needed / max(seconds(lambda: list(rule.parts(short))), 1e-7) if needed > NOISE else 0


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["id"])
def test_a_rule_takes_linear_time_on_a_line_of_4_kib(rule: dict[str, object]) -> None:
    (alone,) = (each for each in secret_rules.rules() if each.id == rule["id"])
    steep = {}
    for short, long in zip(_hostile(rule, SHORT), _hostile(rule, LONG), strict=True):
        growth = _growth(alone, short, long)
        if growth > STEEPEST:
            # A busy machine may slow one measurement, not all.
            growth = min(_growth(alone, short, long) for _ in range(5))
        if growth > STEEPEST:
            steep[long[:40]] = round(growth, 1)
    assert not steep


@pytest.mark.parametrize("pair", ["token=ab ", "DB_PASS=abc1 ", "PASSWORD=1234 ", "{'key': 'deadbeef0123', 'n': 1}, "])
def test_a_line_with_thousands_of_values_takes_linear_time(pair: str) -> None:
    """Like an assertion on two lists of dictionaries; each value was once compared with the whole line."""
    assert takes_seconds_at_most(20, lambda: redact(pair * 4000))


def test_words_of_a_comparison_count_in_their_own_line_alone() -> None:
    assert redact("expected 1\nPASSWORD=123456\ngot 2") == "expected 1\nPASSWORD=[redacted]\ngot 2"
    assert redact("PASSWORD=123456 expected 1") == "PASSWORD=123456 expected 1"
    assert redact("PASSWORD=123456\nexpected 1") == "PASSWORD=[redacted]\nexpected 1"
