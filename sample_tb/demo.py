"""A regression with faults, three times: all causes new, all known, some of them repaired.

Works in a scratch git repository, a copy of this folder, and leaves it for a look. Ends with status 0 when the wiki
did what it is for.
"""

from __future__ import annotations

import os
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
NOTE = "Seen on the bench as well: the word is lost when a read empties the FIFO in the same cycle."


@dataclass(frozen=True)
class Repair:
    """One edit of a source file."""

    file: str
    faulty: str
    repaired: str


REPAIRS = (
    Repair("rtl/axil_regs.v", "s_axil_bvalid <= !(fault_no_bvalid && data_first);", "s_axil_bvalid <= 1;"),
    Repair("rtl/axil_regs.v", "if (!fault_ctrl_no_reset) ctrl <= 0;", "ctrl          <= 0;"),
    Repair(
        "rtl/stream_buffer.v",
        "`ifdef BUFFER_SYNTAX\n    assign in_ready  = ctrl[0] && !full\n`else\n"
        "    assign in_ready  = ctrl[0] && !full;\n`endif\n",
        "    assign in_ready  = ctrl[0] && !full;\n",
    ),
    Repair("tb/regs_tb.py", 'dut.irq_out if "regs_renamed_irq" in faults.active() else dut.irq', "dut.irq"),
)


class Scratch:
    """The scratch repository, and what is run in it."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="dvwiki-demo-"))
        self.environment = {
            name: value
            for name, value in os.environ.items()
            # What would make the runs those of another repository or regression.
            if not name.startswith(("GIT_", "PYTEST_", "COCOTB_", "DVWIKI_", "SAMPLE_FAULTS"))
            or name == "DVWIKI_CACHE_DIR"
        }
        self.environment |= {"COLUMNS": str(min(shutil.get_terminal_size().columns, 100)), "GIT_PAGER": "cat"}

    def run(self, *command: str) -> None:
        """Show a command and what it prints."""
        self._announce(command)
        subprocess.run(command, cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL, check=False)

    def read(self, *command: str) -> str:
        """Show a command and what it prints, and return that."""
        self._announce(command)
        text = subprocess.run(
            command, cwd=self.root, env=self.environment, stdout=subprocess.PIPE, text=True, check=False
        ).stdout
        print(text, end="")
        return text

    @staticmethod
    def _announce(command: tuple[str, ...]) -> None:
        print(f"$ {shlex.join([Path(command[0]).name, *command[1:]])}", flush=True)

    def git(self, *arguments: str) -> str:
        """Run git quietly and return what it printed."""
        return subprocess.run(
            ["git", *arguments], cwd=self.root, env=self.environment, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, subject: str, *paths: str) -> None:
        """Commit what changed below `paths`."""
        self.git("add", "--", *paths)
        self.git("commit", "--quiet", "--message", subject)

    def bugs(self) -> dict[str, str]:
        """Text of every bug page, by file name."""
        folder = self.root / ".agent" / "wiki" / "bugs"
        return {page.name: page.read_text(encoding="utf-8") for page in sorted(folder.glob("[A-Z]*.md"))}


def main() -> int:
    """Play the story; the status says whether the wiki kept its promises."""
    scratch = Scratch()
    prepare(scratch)

    heading("1  A regression with faults: every cause is new")
    scratch.run(*regression())
    first = scratch.bugs()
    if not first:
        print(f"\nNO   the first run made a page for every fault\n\nThe repository is kept in {scratch.root}")
        return 1
    scratch.commit("wiki: first regression", ".agent")

    heading("2  The same again with other seeds: every cause is known")
    scratch.run(*regression())
    second = scratch.bugs()
    scratch.commit("wiki: second regression", ".agent")

    heading("3  One engineer edits a page of the wiki, another repairs four faults")
    page = annotate(scratch)
    scratch.commit("wiki: what is known of the lost word", ".agent")
    repair(scratch)
    for path in (f".agent/wiki/bugs/{page}", "rtl", "tb"):
        scratch.run("git", "log", "-1", "--format=%h %s", "--patch", "--unified=0", "--", path)
        print()
    scratch.run(*regression())
    third = scratch.bugs()
    print("\nThe edited page after the run: what the person wrote, what the wiki counts")
    scratch.run("grep", "-nE", f"^(status|hit_count|occurrence_count):|{NOTE[:20]}", f".agent/wiki/bugs/{page}")

    heading("4  What the next prompt of an agent contains")
    prompt = scratch.read(tool("dvwiki"), "context", "fifo", "lost", "word", "--budget", "800")

    heading("The end")
    promises = {
        "the first run made a page for every fault": len(first) == len(faults_shown()),
        "the second run made no page": second.keys() == first.keys(),
        "the third run made no page": third.keys() == first.keys(),
        "the note is still in its page": NOTE in third.get(page, ""),
        "the prompt names that page": page.removesuffix(".md") in prompt,
    }
    for promise, kept in promises.items():
        print(f"{'yes' if kept else 'NO '}  {promise}")
    print(f"\nThe repository is kept in {scratch.root}")
    return 0 if all(promises.values()) else 1


def regression() -> list[str]:
    """The command of every run; tracebacks are left out, the wiki's section is what this is about."""
    return [tool("pytest"), "--dvwiki", "--tb=no", "--no-header", "-rN"]


def tool(name: str) -> str:
    """A command of the environment that runs this file."""
    return str(Path(sys.executable).with_name(name))


def prepare(scratch: Scratch) -> None:
    """Make the repository: the sample with its faults switched on, as its first commit."""
    for name in ("rtl", "tb", "tests", "pytest.ini"):
        copy = shutil.copytree if (SAMPLE / name).is_dir() else shutil.copy
        copy(SAMPLE / name, scratch.root / name)
    for cache in scratch.root.rglob("__pycache__"):
        shutil.rmtree(cache)
    (scratch.root / "faults.txt").write_text("\n".join(faults_shown()) + "\n", encoding="utf-8")
    (scratch.root / ".gitignore").write_text("__pycache__/\n.pytest_cache/\nsim_build/\n", encoding="utf-8")
    scratch.git("init", "--quiet", "--initial-branch=main")
    for key, value in {
        "user.name": "Sample Engineer",
        "user.email": "engineer@example.com",
        "commit.gpgsign": "false",
        "core.hooksPath": ".git/hooks",
    }.items():
        scratch.git("config", key, value)
    scratch.commit("FIFO, registers and their testbenches", ".")
    print(f"Scratch repository: {scratch.root}")
    print(f"Simulator: {simulator()}")
    print(textwrap.fill(f"Faults in it: {', '.join(faults_shown())}", 80, subsequent_indent="    "))


def simulator() -> str:
    """The simulator that the tests will choose."""
    return os.environ.get("SIM") or ("icarus" if shutil.which("iverilog") else "verilator")


def faults_shown() -> list[str]:
    """The faults that the simulator can show."""
    return [name for name in FAULTS if not (simulator() == "verilator" and name in NOT_ON_VERILATOR)]


def annotate(scratch: Scratch) -> str:
    """Write a note into the page of the lost word, and return the page's name."""
    name, text = next(item for item in scratch.bugs().items() if "failure_subtype: scoreboard_fail" in item[1])
    page = scratch.root / ".agent" / "wiki" / "bugs" / name
    text = text.replace("\nstatus: open\n", "\nstatus: confirmed\n")
    text = text.replace("\n## Resolution\n", f"\n## Resolution\n\n{NOTE}\n")
    page.write_text(text, encoding="utf-8")
    return name


def repair(scratch: Scratch) -> None:
    """Commit the repairs."""
    for edit in REPAIRS:
        file = scratch.root / edit.file
        text = file.read_text(encoding="utf-8")
        if text.count(edit.faulty) != 1:
            raise SystemExit(f"{edit.file}: {edit.faulty!r} is not in it once: bring REPAIRS up to date")
        file.write_text(text.replace(edit.faulty, edit.repaired), encoding="utf-8")
    scratch.commit("regs: reset CTRL and answer late addresses; buffer: semicolon; tb: new name of irq", ".")


def heading(text: str) -> None:
    """Print a heading that stands out."""
    line = "━" * 80
    print(f"\n{line}\n{text}\n{line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
