"""A secret in any place of a run is in no output of the plugin.

Each form of a secret is put into each place that can hold it, in a real session and a real repository; each place has a
mark beside the secret, by which an output that shows the place is told. `docs/secrets.md` has the table, which
`make examples` writes.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_dvwiki import secret_rules
from pytest_dvwiki.agent.budget import fit
from pytest_dvwiki.agent.knowledge import Knowledge
from pytest_dvwiki.capture.git.repository import MOST_COMMITS, Repository
from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.model import FirstBad, Vcs, Verdict
from pytest_dvwiki.pipeline import Archived
from pytest_dvwiki.report import terminal
from pytest_dvwiki.settings import Layout
from pytest_dvwiki.wiki.text.markdown import plain
from pytest_dvwiki.wiki.writing.build import archive

from .samples import git, layout, occurrence, record
from .secret_samples import Form, filled, named, one_of_each_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "secrets.md"
PLACES = ("log line", "assertion", "environment dump", "parameter", "test id", "branch", "path", "commit message")
OUTPUTS = {"record": "R", "page": "P", "journal": "J", "terminal": "T", "prompt": "A"}
NAMED = list(named())
FORMS = [*NAMED, *(form for form in one_of_each_rule() if form.rule not in {each.rule for each in NAMED})]
TESTS = """
import json, pathlib, pytest

FORMS = json.loads(pathlib.Path(__file__).with_name("forms.json").read_text())

@pytest.mark.parametrize(("mark", "text"), [pytest.param(mark, text, id=f"{mark}-id {text}") for mark, text in FORMS])
def test_form(mark, text):
    said = [f"ERROR {mark}-log {text}", f"{mark}-parameter text = {text!r}", f"{mark}_VALUE={text}"]
    print(*said, sep="\\n")
    raise AssertionError("\\n".join([f"{mark}-assertion {text}", *said]))
"""
IN_FOLDER = """
import pathlib
def test_in_folder():
    raise AssertionError(f"in {pathlib.Path(__file__).parent.name}")
"""
LAST = """
import pathlib
def test_last():
    lines = [path.read_text() for path in pathlib.Path(".agent/journal").glob("*/*.jsonl")]
    pathlib.Path("journal.txt").write_text("".join(lines))
"""
CONFTEST = "from pytest_dvwiki.report import terminal\nterminal._MOST_CAUSES = 10_000\n"


def _mark(number: int) -> str:
    return f"spot{chr(97 + number // 26)}{chr(97 + number % 26)}"


TOKENS = {rule["id"] for rule in secret_rules.entries() if "prefixes" in rule}
MARKS = {_mark(number): form for number, form in enumerate(FORMS)}


def _is_name(text: str) -> bool:
    """Return whether a folder can have this name."""
    return "/" not in text and "\n" not in text and len(text) < 200


def _is_branch(text: str) -> bool:
    return _is_name(text) and not re.search(r"[\s~^:?*\[\\]|\.\.|@\{|\.$", text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from (f"{key}: {text}" for text in _strings(each))
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    else:
        yield str(value)


def _read(root: Path) -> dict[str, str]:
    """Return the texts in records, pages and a prompt of a project, as a reader sees them."""
    records = [path.read_text("utf-8") for path in (root / ".agent" / "tasks").rglob("*.yaml")]
    parsed = [text for content in records for document in yaml.safe_load_all(content) for text in _strings(document)]
    pages = [path.read_text("utf-8") for path in (root / ".agent" / "wiki").rglob("*.md")]
    with Knowledge(Layout(root=root, wiki=root / ".agent" / "wiki"), "none") as knowledge:
        prompt = fit(knowledge.blocks([*knowledge.all("bugs"), *knowledge.all("patterns")]), 10**7)
    return {
        "record": "\n".join([*records, *parsed]),
        "page": "\n".join([*pages, *map(plain, pages)]),
        "prompt": f"{prompt}\n{plain(prompt)}",
    }


def _session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the outputs of a session whose tests fail with a secret in logs, messages, values, names and folders."""
    monkeypatch.setenv("COLUMNS", "4000")
    monkeypatch.delenv("CI", raising=False)
    pytester.makeconftest(CONFTEST)
    (pytester.path / "forms.json").write_text(json.dumps([(mark, form.text) for mark, form in MARKS.items()]))
    for mark, form in MARKS.items():
        if _is_name(form.text):
            folder = pytester.path / f"{mark}-path {form.text}"
            folder.mkdir()
            (folder / f"test_{mark}.py").write_text(IN_FOLDER.replace("in {", f"{mark} in {{"))
    pytester.makepyfile(test_forms=TESTS, test_zz=LAST)
    folders = sorted(map(str, pytester.path.glob("spot*")))
    options = ("--dvwiki", "-v", "--tb=no", "-rN", "-p", "no:cacheprovider")
    shown = pytester.runpytest_subprocess(*options, *folders, "test_forms.py", "test_zz.py")
    ours = shown.outlines[max(at for at, line in enumerate(shown.outlines) if " dvwiki =" in line) :]
    events = (pytester.path / "journal.txt").read_text().splitlines()
    journal = [*events, *(text for event in events for text in _strings(json.loads(event)))]
    return {**_read(pytester.path), "terminal": "\n".join(ours), "journal": "\n".join(journal)}


def _repository(root: Path) -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """Make a repository with a branch and a commit for each form; return the recorded names and subjects."""
    git(root, "init", "-q", "-b", "main")
    stream = ["commit refs/heads/main\nmark :9999\ncommitter a <a@example.com> 1700000000 +0000\ndata 4\nbase\n"]
    for number, (mark, form) in enumerate(MARKS.items(), 1):
        subject = f"{mark}-commit {' '.join(form.text.split())}"
        stream.append(
            f"commit refs/heads/main\nmark :{number}\ncommitter a <a@example.com> {1_700_000_000 + number} +0000\n"
            f"data {len(subject.encode())}\n{subject}\nM 100644 inline rtl.v\ndata {len(str(number))}\n{number}\n"
        )
    (root / "stream").write_text("".join(stream), encoding="utf-8")
    with (root / "stream").open("rb") as given:
        subprocess.run(["git", "-C", str(root), "fast-import", "--quiet"], stdin=given, check=True)
    git(root, "reset", "-q", "--hard", "main")
    commits = git(root, "rev-list", "--reverse", "main").stdout.split()
    place = layout(root)
    branches = {}
    for mark, form in MARKS.items():
        # A token is between other words, which a branch joins by dashes.
        text = form.text.replace(" ", "-") if form.rule in TOKENS else form.text
        if _is_branch(text):
            name = f"{mark}-branch/{text}"
            git(root, "update-ref", f"refs/heads/{name}", "main")
            git(root, "symbolic-ref", "HEAD", f"refs/heads/{name}")
            branches[mark] = str(Repository(place).state().branch)
    git(root, "symbolic-ref", "HEAD", "refs/heads/main")
    steps = [*range(0, len(commits) - 1, MOST_COMMITS), len(commits) - 1]
    logs = [Repository(place).between(commits[first], commits[last]).log for first, last in itertools.pairwise(steps)]
    assert len([line for log in logs for line in log]) == len(FORMS)
    return branches, logs


def _of_git(root: Path) -> dict[str, str]:
    """Return the outputs of runs that name branches and commits."""
    branches, logs = _repository(root)
    subjects = [line for log in logs for line in log]
    threes = [tuple(subjects[at : at + 3]) for at in range(0, len(subjects), 3)]
    causes = [occurrence(f"{number:012x}", primary=f"cause {number}") for number in range(len(threes))]
    came = tuple(
        FirstBad(fingerprint=cause.fingerprint, nodeid="t", good="a" * 40, bad="b" * 40, log=log, log_count=len(log))
        for cause, log in zip(causes, threes, strict=True)
    )
    place = layout(root)
    archive(place, record(1, *causes, first_bad=came, vcs=Vcs(commit="c" * 40, branch="\n".join(branches.values()))))
    verdict: dict[str, Any] = {"error_class": "uvm_error", "failure_subtype": "scoreboard_fail", "primary": "x"}
    shown = tuple(
        Cause(
            name=cause.fingerprint,
            occurrence=cause,
            verdict=Verdict(fingerprint=cause.fingerprint, **verdict),
            news="NEW",
            first_bad=found,
        )
        for cause, found in zip(causes, came, strict=True)
    )
    session = terminal.Session(archived=Archived(causes=shown), root=root, wiki=place.wiki)
    lines = [line.text for line in terminal.render(session, verbosity=1, width=4000)]
    return {**_read(root), "terminal": "\n".join(lines), "journal": ""}


_MARKS = {
    "log line": "{}-log ",
    "assertion": "{}-assertion ",
    "environment dump": "{}_VALUE=",
    "parameter": "{}-parameter ",
    "test id": "{}-id ",
    "branch": "{}-branch/",
    "path": "{}-path ",
    "commit message": "{}-commit ",
}


_RANDOM_DIGITS = re.compile(r"(?<=Z_)[0-9a-f]{6}\b|(?<=\[redacted-)[0-9a-f]{8}(?=\])")
"""Digits of task ids and hashes, which may contain a secret of two characters by chance."""


def _leaks(form: Form, text: str) -> bool:
    """Return whether a text contains any line of a secret; text that only looks like one does not count."""
    text = _RANDOM_DIGITS.sub("", text)
    return any(part in text for part in form.secret.split("\n") if len(part) > 1 and "PRIVATE" not in part)


def _table(cells: dict[str, dict[str, str]]) -> str:
    rows = [["form", *PLACES], ["---"] * (len(PLACES) + 1)]
    rows += [[name.replace("|", "\\|"), *(cells[name][place] or "-" for place in PLACES)] for name in cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(outputs: Iterable[dict[str, str]]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return for each form and place the outputs that show the place, and those that show the secret."""
    cells: dict[str, dict[str, str]] = {}
    leaks: list[str] = []
    for shown in outputs:
        for mark, form in MARKS.items():
            own = cells.setdefault(form.name, dict.fromkeys(PLACES, ""))
            for output, text in shown.items():
                # Only text after a mark: short secrets may be part of another word.
                behind = [found[1] for found in re.finditer(rf"(?=({mark}[-_][^\n]*(?:\n[^\n]*)?))", text)]
                leaks += [f"{form.name} in {output}: {each[:200]}" for each in behind if _leaks(form, each)]
                for place in PLACES:
                    reached = any(each.startswith(_MARKS[place].format(mark)) for each in behind)
                    own[place] += OUTPUTS[output] if reached and OUTPUTS[output] not in own[place] else ""
    order = "".join(OUTPUTS.values())
    sort = {
        name: {place: "".join(sorted(each, key=order.index)) for place, each in own.items()}
        for name, own in cells.items()
    }
    return sort, leaks


def test_no_secret_leaves_any_place(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    cells, leaks = _cells([_session(pytester, monkeypatch), _of_git(folder)])
    assert not leaks
    # Places that no output shows would prove nothing.
    for name, own in cells.items():
        assert set("RPJ") <= set(own["assertion"]), (name, own)
        assert set("RJ") <= set(own["test id"]), (name, own)
        assert set("RJ") <= set(own["log line"]), (name, own)
    for output in "TA":  # these show one line of a message
        assert sum(output in own["assertion"] for own in cells.values()) > len(cells) - 4
    table = _table(cells)
    text = PAGE.read_text("utf-8")
    start, end = "<!-- secrets: made by `make examples` -->\n", "\n<!-- secrets end -->"
    if os.environ.get("DVWIKI_WRITE_DOCS"):
        text = re.sub(f"{re.escape(start)}.*?{re.escape(end)}", lambda _: f"{start}{table}{end}", text, flags=re.DOTALL)
        PAGE.write_text(text, encoding="utf-8")
    assert table in text, "run `make examples`"


LOGINS = """
import pytest

@pytest.mark.parametrize("token", [{tokens}])
def test_login(token):
    raise RuntimeError(f"login refused for token={{token}}")
"""


def test_a_secret_changes_no_identity_and_the_command_takes_none(pytester: pytest.Pytester) -> None:
    secrets = [filled("glpat-<mixed:20>"), filled("glpat-<hex:20>")]
    pytester.makepyfile(test_login=LOGINS.format(tokens=", ".join(map(repr, secrets))))
    pytester.runpytest_subprocess("--dvwiki", "-p", "no:cacheprovider", "--tb=no", "-rN")
    (path,) = (pytester.path / ".agent" / "tasks").glob("2*/*/*.yaml")
    (cause,) = yaml.safe_load(path.read_text("utf-8"))["occurrences"]
    names = [test["nodeid"] for test in cause["tests"]]
    assert len(set(names)) == len(secrets)
    assert all(re.fullmatch(r"test_login\.py::test_login\[\[redacted-[0-9a-f]{8}\]\]", name) for name in names)
    words = shlex.split(cause["reproduce"]) if "reproduce" in cause else cause["command"]["arguments"]
    assert [word for word in words if "::" in word] == ["test_login.py::test_login"]
    pytester.run(*words, "-p", "no:cacheprovider").assert_outcomes(failed=2)
