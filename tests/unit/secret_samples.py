"""Secrets that are composed at run time, so that no scanner finds them in the repository."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_dvwiki import secret_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILLINGS = {"mixed": "aB3dEfGh1jKlMn0pQrStUvWxYz", "hex": "0123456789abcdef"}
_FILLED = re.compile(r"<(mixed|hex):(\d+)>")


@dataclass(frozen=True)
class Form:
    """A text with a secret in it."""

    name: str
    rule: str
    text: str
    secret: str


def filled(text: str) -> str:
    """Replace `<mixed:20>` and `<hex:20>` in a text by letters and digits."""
    return _FILLED.sub(
        lambda found: "".join(itertools.islice(itertools.cycle(_FILLINGS[found[1]]), int(found[2]))), text
    )


def tokens(rule: dict[str, Any], shorter: int = 0) -> list[str]:
    """Return the shortest token for each prefix of a rule, or one that is too short by some characters."""
    letters = [
        chr(code) for code in range(33, 127) if re.match(f"[{rule['alphabet']}]", chr(code)) and chr(code).isalnum()
    ]
    digits, others = [letter for letter in letters if letter.isdigit()], [each for each in letters if each.isalpha()]
    body = itertools.cycle([*others[::-3][:9], *digits[:3], *others[1::4][:7]])
    return [prefix + "".join(itertools.islice(body, rule["length"][0] - shorter)) for prefix in rule["prefixes"]]


def samples(rule: dict[str, Any]) -> list[str]:
    """Return the secrets for a rule's examples."""
    return tokens(rule) if "prefixes" in rule else [filled(each) for each in rule["samples"]]


def of_rules() -> Iterator[Form]:
    """Return each example of each rule with each of its secrets."""
    for rule in secret_rules.entries():
        for secret, example in itertools.product(samples(rule), rule["examples"]):
            yield Form(rule["id"], rule["id"], filled(example).replace("{}", secret), secret)


def one_of_each_rule() -> Iterator[Form]:
    """Return the first example of each rule."""
    return (next(group) for _, group in itertools.groupby(of_rules(), key=lambda form: form.rule))


_NAMED = (
    ("GitLab trigger token", "gitlab.token", "triggered with {}", "glptt-<hex:40>"),
    ("GitLab CI job token", "gitlab.token", "CI_JOB={}", "glcbt-64_<mixed:20>"),
    ("AWS session token", "name.token", "AWS_SESSION_TOKEN={}", "<mixed:60>/<mixed:40>=="),
    ("AWS secret key", "name.password", "aws_secret_access_key = {}", "<mixed:20>/<mixed:19>"),
    ("Slack webhook", "slack.webhook", "https://hooks.slack.com/services/{}", "T<hex:8>/B<hex:8>/<mixed:24>"),
    (
        "PGP block",
        "key.block",
        "{}",
        "-----BEGIN PGP PRIVATE<hex:0> KEY BLOCK-----\n\n<mixed:64>\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    ("Authorization: token", "header.authorization", "Authorization: token {}", "<hex:40>"),
    ("Authorization: Basic", "header.authorization", "'Authorization': 'Basic {}'", "<mixed:20>=="),
    ("PRIVATE-TOKEN", "header.token", "PRIVATE-TOKEN: {}", "<mixed:20>"),
    ("cookie", "header.cookie", "Cookie: session={}; lang=en", "<mixed:24>"),
    (".netrc", "netrc", "machine git.example.com login ci password {}", "hunter-<hex:4>"),
    ("curl -u", "curl.user", "curl -sf -u ci:{} https://x.example.com/f", "hunter-<hex:4>"),
    ("Azure account key", "azure.account_key", "AccountName=ci;AccountKey={};x=y", "<mixed:86>=="),
    ("Azure SAS", "url.query", "https://a.blob.example.net/c?sv=2024&se=2030&sig={}", "<mixed:43>%3D"),
    ("Google API key", "google.api_key", "maps {}", "AIza<mixed:35>"),
    ("docker auth", "docker.auth", '{"auths": {"x.example.com": {"auth": "{}"}}}', "<mixed:22>=="),
    ("npm token", "npm.auth", "//npm.example.com/:_authToken={}", "npm_<mixed:36>"),
    ("Hugging Face token", "huggingface.token", "download {}", "hf_<mixed:34>"),
    ("Stripe key", "stripe.key", "charge {}", "sk_live_<mixed:24>"),
    ("Vault token", "vault.token", "unsealed by {}", "hvs.<mixed:90>"),
    ("PyPI token", "pypi.token", "upload {}", "pypi-AgEIcHlwaS5vcmc<mixed:100>"),
    ("token=", "name.token", "token={}", "s3cr3t-<hex:8>"),
    ("DB_PASS", "name.pass", "DB_PASS={}", "hunter-<hex:4>"),
    ("short password", "name.password", "password={}", "q7"),
    ("quoted password", "name.password", 'password: "{}"', "two words <hex:4>"),
    ("password with @", "url.user", "https://ci<hex:0>:{}@git.example.com/rtl.git", "p@ss<hex:4>"),
)


def named() -> Iterator[Form]:
    """Return the forms that users asked for."""
    for name, rule, text, secret in _NAMED:
        yield Form(name, rule, filled(text).replace("{}", filled(secret)), filled(secret))
