"""A regression with faults as days go by: new, known, fixed, fixed for good, and one that returns; and its coverage.

Works in a scratch git repository, a copy of this folder, and leaves it for a look. Each scene tells what it promises;
ends with status 0 when all promises were kept.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

SAMPLE = Path(__file__).parent
FAULTS = (
    "fifo_drop",
    "fifo_late_full",
    "fifo_no_config",
    "regs_ctrl_no_reset",
    "regs_ro_okay",
    "regs_no_bvalid",
    "regs_renamed_irq",
    "regs_debug_finish",
    "counter_no_timescale",
    "buffer_syntax",
)
NOT_ON_VERILATOR = {"regs_ctrl_no_reset", "counter_no_timescale"}
NOTE = "Also seen on the bench, whenever a read empties the FIFO in the same cycle as the write."
PROMPT = """\
Repair the FIFO: `pytest tests/test_fifo.py` must pass.

What is known of bugs in the RTL:
{{KNOWN_RTL_BUGS}}

Which kinds of failure to expect:
{{KNOWN_ERROR_PATTERNS}}
"""
FLAKY = '''\
"""A bridge on the bench, which answers late at first."""

from pathlib import Path

AWAKE = Path("sim_build/awake")


def test_bridge_answers() -> None:
    is_late = not AWAKE.exists()
    AWAKE.touch()
    assert not is_late, "no answer of the bridge within 100 cycles"
'''
REPAIRED = "fifo: full at the last word; agent: publish the sequencer"
BROKEN_AGAIN = "fifo: relax full for timing"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Edit:
    """One edit of a source file."""

    file: str
    before: str
    after: str


REPAIRS = (
    Edit("rtl/sync_fifo.v", "fault_late_full ? level > CAPACITY : level == CAPACITY;", "level == CAPACITY;"),
    Edit(
        "tb/fifo_env.py",
        '        if "fifo_no_config" not in faults.active():\n            ConfigDB()',
        "        ConfigDB()",
    ),
)
RELAPSE = (Edit("rtl/sync_fifo.v", "full    = level == CAPACITY;", "full    = level > CAPACITY;"),)
COVERAGE = "sim_build/coverage"
REPORT = "report"
REPAIRED_TESTS = ("tests/test_fifo.py", "-k", "fill or streaming")

Promises = dict[str, bool]


class Scratch:
    """The scratch repository, and what is run in it."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="dvwiki-demo-"))
        self.environment = {
            name: value
            for name, value in os.environ.items()
            # What would make the runs those of another repository or regression.
            if not name.startswith(("GIT_", "PYTEST_", "COCOTB_", "DVWIKI_", "SAMPLE_")) or name == "DVWIKI_CACHE_DIR"
        }
        color = "yes" if sys.stdout.isatty() else "no"
        self.environment |= {
            "COLUMNS": str(min(shutil.get_terminal_size().columns, 100)),
            "GIT_PAGER": "cat",
            "PYTHONUNBUFFERED": "1",
            # The wiki's section is what this is about.
            "PYTEST_ADDOPTS": f"--tb=no --no-header -rN --color={color}",
        }

    def run(self, *command: str, **variables: str) -> str:
        """Show a command, with the variables set for it, and what it prints; return that without colours."""
        settings = [f"{name}={shlex.quote(value) if value else ''}" for name, value in variables.items()]
        print("$", *settings, shlex.join(command), flush=True)
        text = b""
        found = Path(sys.executable).with_name(command[0])
        program = str(found) if found.exists() else command[0]
        with subprocess.Popen(
            [program, *command[1:]],
            cwd=self.root,
            env=self.environment | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            while chunk := os.read(process.stdout.fileno(), 4096):
                sys.stdout.buffer.write(chunk)
                sys.stdout.flush()
                text += chunk
        print(flush=True)
        return ESCAPES.sub("", text.decode("utf-8", "replace"))

    def git(self, *arguments: str) -> str:
        """Run git quietly and return what it printed, without colours."""
        text = subprocess.run(
            ["git", *arguments], cwd=self.root, env=self.environment, check=True, capture_output=True, text=True
        ).stdout
        return ESCAPES.sub("", text)

    def commit(self, subject: str, *paths: str) -> str:
        """Commit what changed below `paths`, and return the commit's short name."""
        self.git("add", "--", *paths)
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "--short=7", "HEAD").strip()

    def edit(self, edits: tuple[Edit, ...], subject: str) -> str:
        """Commit edits of the sources, show them, and return the commit's short name."""
        for edit in edits:
            file = self.root / edit.file
            text = file.read_text(encoding="utf-8")
            if text.count(edit.before) != 1:
                raise SystemExit(f"{edit.file}: {edit.before!r} is not in it once: bring the edits up to date")
            file.write_text(text.replace(edit.before, edit.after), encoding="utf-8")
        commit = self.commit(subject, "rtl", "tb")
        self.run("git", "log", "-1", "--format=%h %s", "--patch", "--unified=0")
        return commit

    def archive(self) -> None:
        """Commit the wiki, as a job of the CI does after each run."""
        self.commit("wiki: the last run", ".agent")

    def bugs(self) -> dict[str, str]:
        """Text of every bug page, by its path."""
        folder = self.root / ".agent" / "wiki" / "bugs"
        pages = sorted(folder.glob("[A-Z]*.md"))
        return {str(page.relative_to(self.root)): page.read_text(encoding="utf-8") for page in pages}

    def bug(self, words: str) -> str:
        """Path of the bug page that has these words."""
        return next((path for path, text in self.bugs().items() if words in text), "no such page")


# The scenes, in their order


def prompt_before(scratch: Scratch) -> Promises:
    """An agent starts without a memory."""
    scene("An agent's prompt on the first day", "the wiki is empty, so the prompt is what a person wrote")
    scratch.run("dvwiki", "init")
    text = scratch.run("dvwiki", "context", "--template", "prompt.md")
    return {"an empty wiki adds nothing to a prompt": "**" not in text}


def first_nightly(scratch: Scratch) -> Promises:
    """All causes are new."""
    scene("The first nightly run", "each cause once, named and judged, with a command that runs it again")
    scratch.run("pytest", "--dvwiki", "--dvwiki-task", "nightly")
    scratch.archive()
    return {"the first run makes a page for every fault": len(scratch.bugs()) == len(faults_shown())}


def second_nightly(scratch: Scratch) -> Promises:
    """All causes are known, and a person's edit stays."""
    scene("A person edits a page; the next night", "all are known, counts go up, and the person's words stay")
    page = scratch.bug("failure_subtype: scoreboard_fail")
    path = scratch.root / page
    if path.exists():
        text = path.read_text(encoding="utf-8").replace("\nstatus: open\n", "\nstatus: confirmed\n")
        path.write_text(text.replace("\n## Resolution\n", f"\n## Resolution\n\n{NOTE}\n"), encoding="utf-8")
        scratch.commit("wiki: what is known of the lost word", ".agent")
        scratch.run("git", "log", "-1", "--format=%h %s", "--patch", "--unified=0")
    before = scratch.bugs().keys()
    scratch.run("pytest", "-q", "--dvwiki", "--dvwiki-task", "nightly")
    scratch.run("grep", "-E", f"^(status|hit_count|occurrence_count):|{NOTE[:20]}", page)
    scratch.archive()
    after = scratch.bugs()
    return {
        "the second run makes no page": after.keys() == before,
        "the second run counts every cause again": all("\nhit_count: 2\n" in text for text in after.values()),
        "what the person wrote is still in the page": NOTE in after.get(page, ""),
    }


def repair(scratch: Scratch) -> Promises:
    """A commit repairs two faults, and the run finds out."""
    scene(
        "A commit repairs two faults",
        "FIXED and PASSED at the end: no seed changes the one, and the pass of the other may still be chance",
    )
    commit = scratch.edit(REPAIRS, REPAIRED)
    text = scratch.run("pytest", "--dvwiki", "--dvwiki-task", "nightly")
    scratch.archive()
    words = " ".join(text.split())
    return {
        "the third run names the commit that fixed one cause": words.count(f"by {commit} {REPAIRED}") == 1,
        "the other one passes since that commit": words.count(f"since {commit} {REPAIRED}") == 1,
    }


def hold(scratch: Scratch) -> Promises:
    """Three more runs pass; what no seed can change was held at its first pass."""
    scene("Three quick runs of the repaired tests", "FIXED, as three passes are no chance, and HELD after the fourth")
    texts = [scratch.run("pytest", "--dvwiki", "--dvwiki-task", "quick", *REPAIRED_TESTS) for _ in range(3)]
    scratch.archive()
    return {"the fix of the FIFO holds after three more runs": [text.count("HELD ") for text in texts] == [0, 0, 1]}


def coverage(scratch: Scratch) -> Promises:
    """A hole in the coverage is found, and filled."""
    scene("What no test has tried", "levels of the FIFO that no test reads and writes at, and the run that fills them")
    shutil.rmtree(scratch.root / COVERAGE, ignore_errors=True)
    scratch.run("pytest", "-q", "tests/test_fifo.py", SAMPLE_FAULTS="")
    found = scratch.run("dvwiki", "ingest", COVERAGE)
    scratch.run("pytest", "-q", "tests/test_fifo.py", SAMPLE_FAULTS="", SAMPLE_EVERY_LEVEL="1")
    filled = scratch.run("dvwiki", "ingest", COVERAGE)
    page = next(iter(sorted((scratch.root / ".agent" / "wiki" / "coverage").glob("[!_]*.md"))), None)
    if page is not None:
        scratch.run("sed", "-n", "/^| Date/,/^[^|]/{/^|/p}", str(page.relative_to(scratch.root)))
    scratch.archive()
    return {
        "a hole in the coverage is found": re.search(r"COVERAGE .*: 3 new", found) is not None,
        "a later run fills it": re.search(r"COVERAGE .*, 0 holes: 3 filled", filled) is not None,
    }


def regression(scratch: Scratch) -> Promises:
    """One of the repaired faults returns."""
    scene("Later, somebody touches the FIFO", "REGRESSED, with what fixed it last time: this one has been here before")
    scratch.edit(RELAPSE, BROKEN_AGAIN)
    text = scratch.run("pytest", "--dvwiki", "tests/test_fifo.py")
    page = scratch.bug("FIFO overflow")
    scratch.run("sed", "-n", "/^| Date | Commits/,/^[^|]/{/^|/p}", page)
    scratch.archive()
    return {
        "the cause that returns is a regression": "1 regressed" in text,
        "its last fix is named": re.search(rf"fixed by \w{{7}} {REPAIRED}", " ".join(text.split())) is not None,
    }


def gate(scratch: Scratch) -> Promises:
    """A job passes although tests fail, once people accept the cause that came back."""
    scene("A gate on what is new", "the last lines: what stops the job, and what it lets through once that is waived")
    job = ("pytest", "-q", "--dvwiki", "--dvwiki-gate=unwaived", "tests/test_fifo.py", "-k", "fill")
    before = scratch.run(*job)
    page = Path(scratch.bug("FIFO overflow")).stem
    terms = ("--reason", "the new timing needs a full cycle", "--owner", "fifo team", "--expires", "2099-12-31")
    scratch.run("dvwiki", "waive", page, *terms)
    after = scratch.run(*job)
    scratch.run("dvwiki", "waivers")
    scratch.archive()
    return {
        "the gate stops what nobody accepts": "dvwiki gate unwaived: stopped 1 failed test" in before,
        "a waiver lets it through": "exit status 0 instead of 1: 1 waived (W-" in after,
    }


def flaky(scratch: Scratch) -> Promises:
    """A test passes when it is run again: no failure, but not forgotten."""
    scene("A test that passes when run again", "FLAKY: what its first attempt failed with, and in how many of its runs")
    (scratch.root / "tests" / "test_bridge.py").write_text(FLAKY, encoding="utf-8")
    scratch.commit("bridge: a test on the bench", "tests")
    text = scratch.run("pytest", "--dvwiki", "--dvwiki-task", "bench", "--reruns", "1", "tests/test_bridge.py")
    page = scratch.run("cat", ".agent/wiki/flaky.md")
    scratch.archive()
    return {
        "a flaky test is shown, and is no failure": "FLAKY      1 test failed, then passed" in text
        and "1 passed" in text,
        "the page of flaky tests has its rate": "| `tests/test_bridge.py::test_bridge_answers` | 1 | 1 | 100% |"
        in page,
    }


def prompt_after(scratch: Scratch) -> Promises:
    """The agent's prompt holds what was learnt."""
    scene("The same prompt now", "the kinds of failure, how often each was seen, and the fix that held")
    text = scratch.run("dvwiki", "context", "--template", "prompt.md", "--budget", "1200")
    return {
        "the prompt names the fix that held": re.search(r"Fix: \w{7} `fifo: full.*` \(held, but it returned", text)
        is not None,
    }


def upkeep(scratch: Scratch) -> Promises:
    """What all these scenes left behind is in order."""
    scene("Is the wiki in order?", "nothing to mend: no page without its place, no claim without its source")
    text = scratch.run("dvwiki", "lint")
    return {"the check of the wiki finds nothing": text.strip() == "the wiki is sound"}


def report(scratch: Scratch) -> Promises:
    """The morning after: one screen, and a report to open."""
    scene("The morning after", "what is new, and who should look; the report opens in any browser, without a server")
    text = scratch.run("dvwiki", "status")
    scratch.run("dvwiki", "report", "--html", REPORT)
    page = scratch.root / REPORT / "index.html"
    return {
        "the screen says who should look at what is new": re.search(r"^  NEW .*: Sample Engineer$", text, re.MULTILINE)
        is not None,
        "the report is there to be opened": page.is_file(),
    }


def agent_session(scratch: Scratch) -> Promises:
    """An agent uses the wiki over MCP, as far as its role lets it."""
    scene("An agent's session over MCP", "a known bug with its fix, a note that stays unreviewed, and a refusal")
    scratch.run("pytest", "-q", "--dvwiki", "tests/test_regs.py")
    scratch.archive()
    text = scratch.run("python", str(SAMPLE / "agent" / "mcp_session.py"))
    changed = scratch.git("diff", "--unified=0", "--", ".agent/wiki/bugs")
    scratch.run("git", "diff", "--unified=0", "--", ".agent/wiki/bugs")
    prompt = scratch.run("dvwiki", "context", "--category", "bugs", "--budget", "9000")
    scratch.archive()
    return {
        "the agent is told of a known bug and its page": re.search(r"^  KNOWN .*\n  Page: bugs/\w+", text, re.MULTILINE)
        is not None,
        "its note is on the page, unreviewed": "+- unreviewed, by agent on " in changed,
        "no prompt has the note": "Nobody has repaired it" not in prompt,
        "it may not close the bug": "denied: bugs is for ingest, reviewer, human" in text,
    }


SCENES = (
    prompt_before,
    first_nightly,
    second_nightly,
    repair,
    hold,
    coverage,
    regression,
    prompt_after,
    upkeep,
    gate,
    flaky,
    agent_session,
    report,
)


def main() -> int:
    """Play the story; the status says whether the wiki kept its promises."""
    scratch = Scratch()
    prepare(scratch)
    promises: Promises = {}
    for play in SCENES:
        promises |= play(scratch)
    heading("The end")
    for promise, kept in promises.items():
        print(f"{'yes' if kept else 'NO '}  {promise}")
    print(f"\nThe repository is kept in {scratch.root}")
    print(f"Open its report in a browser: {scratch.root / REPORT / 'index.html'}")
    return 0 if all(promises.values()) else 1


def prepare(scratch: Scratch) -> None:
    """Make the repository: the sample with its faults switched on, as its first commit."""
    for name in ("rtl", "tb", "tests", "pytest.ini"):
        copy = shutil.copytree if (SAMPLE / name).is_dir() else shutil.copy
        copy(SAMPLE / name, scratch.root / name)
    for cache in scratch.root.rglob("__pycache__"):
        shutil.rmtree(cache)
    (scratch.root / "faults.txt").write_text("\n".join(faults_shown()) + "\n", encoding="utf-8")
    (scratch.root / "prompt.md").write_text(PROMPT, encoding="utf-8")
    (scratch.root / ".gitignore").write_text(f"__pycache__/\n.pytest_cache/\nsim_build/\n{REPORT}/\n", encoding="utf-8")
    scratch.git("init", "--quiet", "--initial-branch=main")
    for key, value in {
        "user.name": "Sample Engineer",
        "user.email": "engineer@example.com",
        "commit.gpgsign": "false",
        "core.hooksPath": ".git/hooks",
        "color.ui": "always" if sys.stdout.isatty() else "never",
    }.items():
        scratch.git("config", key, value)
    scratch.commit("FIFO, registers and their testbenches", ".")
    print(f"Scratch repository: {scratch.root}")
    print(f"Simulator: {simulator()}")
    print(textwrap.fill(f"Faults in it: {', '.join(faults_shown())}", 80, subsequent_indent="    "), end="\n\n")


def simulator() -> str:
    """The simulator that the tests will choose."""
    return os.environ.get("SIM") or ("icarus" if shutil.which("iverilog") else "verilator")


def faults_shown() -> list[str]:
    """The faults that the simulator can show."""
    return [name for name in FAULTS if not (simulator() == "verilator" and name in NOT_ON_VERILATOR)]


def scene(title: str, look: str) -> None:
    """Begin a scene with its title and what to look at."""
    heading(title)
    print(f"Look at: {look}\n", flush=True)


def heading(text: str) -> None:
    """Print a heading that stands out."""
    line = "━" * 80
    print(f"{line}\n{text}\n{line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
