"""Data from git: the state of a repository, and the changes between a failure and a pass."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.capture.git import command
from pytest_dvwiki.capture.git.repository import MOST_COMMITS, MOST_FILES, Difference, Repository
from pytest_dvwiki.model import MOST_READ, Fix, Vcs
from pytest_dvwiki.settings import Layout

from ...samples import git, layout

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Project:
    """A repository with one commit."""

    root: Path

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, subject: str, **files: str) -> None:
        """Commit files; `__` in a name means a slash, `_v` at its end the suffix."""
        for name, text in files.items():
            self.write(name.replace("__", "/").replace("_v", ".v"), text)
        git(self.root, "add", "--all")
        git(self.root, "commit", "-q", "--allow-empty", "-m", subject)

    @property
    def state(self) -> Vcs:
        return Repository(layout(self.root)).state()

    def since(self, before: Vcs, named: str = "", reads: Sequence[str] = ()) -> Difference:
        found = Repository(layout(self.root))
        return found.difference(before, found.state(), named, reads)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "project")
    project.root.mkdir()
    git(project.root, "init", "-q", "--initial-branch=main")
    project.commit("all", rtl__fifo_v="module fifo;", tb__test_v="module tb;")
    return project


def subjects(difference: Difference) -> list[str]:
    return [line.partition(" ")[2] for line in difference.log]


# The state


def test_the_state_is_commit_branch_and_changes(project: Project) -> None:
    clean = project.state
    assert clean == Vcs(commit=git(project.root, "rev-parse", "HEAD").stdout.strip(), branch="main")
    project.write("rtl/fifo.v", "module fifo2;")
    dirty = project.state
    assert (dirty.commit, dirty.dirty) == (clean.commit, True)
    assert dirty.changes
    assert project.state == dirty
    project.write("rtl/fifo.v", "module fifo3;")
    assert project.state.changes not in {None, dirty.changes}


@pytest.mark.parametrize("reads", [(), ("rtl/fifo.v", "rtl/regs.v", "tb/test.v")])
def test_commits_that_change_back_what_came_with_the_cause_come_first(project: Project, reads: tuple[str, ...]) -> None:
    good = "module fifo;\nassign full = count == 8;\nalways begin\nend else begin\nend\n"
    project.commit("fifo: full", rtl__fifo_v=good)
    passed = str(project.state.commit)
    project.commit("fifo: faster", rtl__fifo_v=good.replace("== 8", ">= 7").replace("end else begin\n", ""))
    failed = project.state
    project.commit("test: more", tb__test_v="module tb; initial begin end")
    project.commit("fifo: full later", rtl__fifo_v=good.replace("== 8", "> 7").replace("end else begin\n", ""))
    for number in range(3):
        project.commit(f"fifo: note {number}", rtl__fifo_v=f"wire note{number};\n{good.replace('== 8', '> 7')}")
        project.commit(f"regs: {number}", rtl__regs_v=f"wire reg{number};")
    came = (passed, str(failed.commit))
    newest = ["regs: 2", "fifo: note 2", "fifo: note 0", "test: more", "regs: 1", "fifo: note 1", "regs: 0"]
    repository = Repository(layout(project.root))
    found = repository.difference(failed, project.state, reads=reads, came=came)
    assert subjects(found) == ["fifo: full later", *newest]
    assert subjects(repository.difference(failed, project.state, reads=reads))[0] == "regs: 2"
    named = subjects(repository.difference(failed, project.state, "tb/test.v:3: in start", reads, came))
    first = ["test: more", "fifo: full later"]
    assert named[:2] == (first[::-1] if reads else first), "if reads are unknown, the failing file comes first"


@pytest.mark.parametrize("more", ["", "wire none = 0;\n"], ids=["added", "replaced"])
def test_of_commits_that_change_code_back_those_that_restore_it_come_first(project: Project, more: str) -> None:
    fifo, regs = "module fifo;\n", "module regs;\nreg [3:0] size = 1;\n"
    project.commit("all parts", rtl__fifo_v=fifo + more, rtl__regs_v=regs)
    passed = str(project.state.commit)
    project.commit("fifo: full", rtl__fifo_v=f"{fifo}wire full = count >= 7;\n")
    project.commit("regs: two", rtl__regs_v=regs.replace("1;", "2;"))
    failed = project.state
    project.commit("fifo: as before", rtl__fifo_v=fifo + more)
    project.commit("regs: three", rtl__regs_v=regs.replace("1;", "3;"))
    came, reads = (passed, str(failed.commit)), ("rtl/fifo.v", "rtl/regs.v")
    found = Repository(layout(project.root)).difference(failed, project.state, "", reads, came)
    assert subjects(found) == ["fifo: as before", "regs: three"]


@pytest.mark.parametrize("of_seed", [False, True], ids=["any seed", "a seed"])
@pytest.mark.parametrize("renamed", [False, True])
def test_a_commit_that_changes_the_quoted_name_where_it_is_missing_comes_before_those_that_only_change_code_back(
    project: Project, *, renamed: bool, of_seed: bool
) -> None:
    clock = "module clock;\nassign idle = done && valid;\n"
    tb, get = "CONFIG.set('SEQR')\n", "value = CONFIG.get('SEQR')\n"
    project.commit("all parts", rtl__fifo_v=clock, **{"tb/bench.py": tb, "tb/used.py": get})
    passed = str(project.state.commit)
    project.commit("clock: idle", rtl__fifo_v=clock.replace(" && valid", ""))
    project.commit("bench: another name", **{"tb/bench.py": tb.replace("SEQR", "SEQUENCER")})
    failed = project.state
    if renamed:
        project.commit("bench: the old name", **{"tb/bench.py": tb})
    project.commit("used: the new name", **{"tb/used.py": get.replace("SEQR", "SEQUENCER")})
    project.commit("clock: idle again", rtl__fifo_v=clock)
    came, reads = (passed, str(failed.commit)), ("rtl/fifo.v", "tb/bench.py", "tb/used.py")
    text = "tb/used.py:1: in start\n    value = CONFIG.get('SEQR')\nerror: no key: SEQR"
    found = Repository(layout(project.root)).difference(
        failed, project.state, text, reads, came, for_every_seed=not of_seed
    )
    back = ["bench: the old name"] if renamed else []
    expected = [*back, "used: the new name", "clock: idle again"]
    assert subjects(found) == (["clock: idle again", *back, "used: the new name"] if of_seed else expected)


def test_commits_that_quote_what_the_message_names_come_first_and_undone_ones_last(project: Project) -> None:
    ports = "module regs(input clk, input grant);\n"
    project.commit("regs", rtl__regs_v=ports)
    failed = project.state
    project.commit("regs: grant is not used", rtl__regs_v=ports.replace("grant", "given"))
    project.commit("regs: a register", rtl__regs_v=f"{ports.replace('grant', 'given')}reg [3:0] kept;\n")
    project.commit("fifo: wider", rtl__fifo_v="module fifo; wire [8:0] data;\n")
    project.commit("fifo: as before", rtl__fifo_v="module fifo;\nwire kept;\n")
    repository = Repository(layout(project.root))
    reads = ("rtl/regs.v", "rtl/fifo.v")
    missing = "AttributeError: regs contains no child object named grant"
    assert subjects(repository.difference(failed, project.state, missing, reads))[0] == "regs: grant is not used"
    assert subjects(repository.difference(failed, project.state, reads=reads)) == [
        "fifo: as before",
        "regs: a register",
        "regs: grant is not used",
        "fifo: wider",
    ]
    named = "port 'grant' is not a port of u_regs"
    assert subjects(repository.difference(failed, project.state, named, reads))[0] == "regs: grant is not used"


@pytest.mark.parametrize(
    "text",
    [
        "top.v:9: error: Unknown module type: grant",
        "** Error: no visible declaration for GRANT",
        "** Error: design unit GRANT not found in library WORK",
        "ghdl: cannot find entity or configuration grant",
        "AttributeError: Unable to find name grant in fifo",
    ],
    ids=["Icarus", "NVC", "NVC's unit", "GHDL", "cocotb"],
)
def test_a_name_that_a_tool_prints_without_quotes_is_searched_in_the_commits(project: Project, text: str) -> None:
    failed = project.state
    project.commit("fifo: grant", rtl__fifo_v="module fifo;\ngrant u_grant();\n")
    project.commit("tb: wider", tb__test_v="module tb2;")
    found = Repository(layout(project.root)).difference(failed, project.state, text, ("rtl/fifo.v", "tb/test.v"))
    assert subjects(found) == ["fifo: grant", "tb: wider"]


@pytest.mark.parametrize(
    "text",
    [
        "assert LogicArray('0010', Range(3, 'downto', 0)) == 5",
        "bad value\nassert 3 == 2\n +  where 3 = len(<built-in method split of 'kept' object>('level', 'given'))",
        "E       assert 3 == 2\nE        +  where 3 = count('level')\nE        +  and   2 = count('kept')",
        "assert LogicArray('ZZZZ', 4) == 3",
        'rtl/top.vhd:3:1: unexpected token "signal" in a list of parameters',
        "regs.sv:3: syntax error near 'localparam'",
    ],
    ids=["a range", "where", "and", "a value", "VHDL", "Verilog"],
)
def test_keywords_and_what_pytest_says_about_values_name_nothing(project: Project, text: str) -> None:
    project.commit("regs", rtl__regs_vhd="entity regs is", **{"kept.py": ""})
    failed = project.state
    project.commit("regs: ports", rtl__regs_vhd="entity regs is\nsignal data : data(7 downto 0); -- localparam")
    project.commit("kept: level", **{"kept.py": "level = kept = given = ZZZZ = 1"})
    project.commit("fifo: data", rtl__fifo_v="module fifo;\nwire data;\n")
    project.commit("fifo: more data", rtl__fifo_v="module fifo;\nwire data;\nwire more;\n")
    repository = Repository(layout(project.root))
    found = repository.difference(failed, project.state, text, ("rtl/regs.vhd", "rtl/fifo.v", "kept.py"))
    assert subjects(found) == ["fifo: more data", "fifo: data", "kept: level", "regs: ports"]


def test_a_docstring_is_a_comment(project: Project) -> None:
    bench = 'def check(value):\n    """Check."""\n    assert value\n'
    project.commit("bench", **{"tb/bench.py": bench})
    failed = project.state
    project.commit("bench: words", **{"tb/bench.py": bench.replace("Check.", "Check a value.\n\n    All bits.\n    ")})
    project.commit("fifo: mend", rtl__fifo_v="module fifo2;")
    found = Repository(layout(project.root)).difference(failed, project.state, reads=("tb/bench.py", "rtl/fifo.v"))
    assert (subjects(found), found.unread_count) == (["fifo: mend", "bench: words"], 1)
    assert found.all_files == ("rtl/fifo.v",)


def test_code_that_is_again_as_before_the_cause_is_no_repair_that_is_undone(project: Project) -> None:
    """A second fault came between the failure and its fix, and was repaired since."""
    lines = ["wire first = 1;", "", "", "", "wire second = 2;", ""]

    def commit(subject: str, *values: int) -> str:
        first, second = values
        project.commit(subject, rtl__fifo_v="\n".join(lines).replace("= 1", f"= {first}").replace("= 2", f"= {second}"))
        return str(project.state.commit)

    good, failed = commit("good", 1, 2), commit("break", 9, 2)
    commit("another fault", 9, 8)
    passed = commit("mend", 1, 8)
    commit("mend the other one", 1, 2)
    repository = Repository(layout(project.root))
    now, files = project.state, ["rtl/fifo.v"]
    assert repository.takes_back((failed, passed), now, files)
    assert not repository.takes_back((failed, passed), now, files, good)
    commit("break again", 9, 2)
    assert repository.takes_back((failed, passed), project.state, files, good)


def test_text_for_people_neither_breaks_nor_repairs_unless_it_is_read(project: Project) -> None:
    failed = project.state
    project.commit("notes", NOTES="x", **{"notes.md": "one"})
    project.commit("fifo: reset", rtl__fifo_v="reset")
    project.commit("more notes", **{"notes.md": "two", "rtl/README": "x"})
    git(project.root, "rm", "-q", "NOTES")
    project.commit("fewer notes")
    found = project.since(failed)
    assert (subjects(found), found.log_count, found.files, found.file_count) == (
        ["fifo: reset"],
        1,
        ("rtl/fifo.v",),
        1,
    )
    repository = Repository(layout(project.root))
    read = repository.difference(failed, project.state, reads=("notes.md",))
    assert subjects(read) == ["more notes", "fifo: reset", "notes"], "nothing of the first notes is left"
    assert read.files == ("notes.md", "rtl/fifo.v")
    failed = project.state
    project.commit("even more", **{"notes.md": "three"})
    assert subjects(project.since(failed)) == ["even more"], "there is nothing else"


def test_what_the_plugin_writes_is_no_change(project: Project) -> None:
    project.commit("wiki", **{".agent__wiki__index.md": "one", "sub__.agent__wiki__index.md": "one"})
    project.write(".agent/wiki/index.md", "two")
    project.write("sub/.agent/wiki/index.md", "two")
    assert not project.state.dirty


def test_what_every_run_writes_anew_is_no_change(project: Project) -> None:
    generated = (
        "results.xml",
        "tests/test_fifo.result.xml",
        "sim/sim_build/Vtop.cpp",
        "sim_build/sim.vvp",
        "dump.vcd",
        "tb/dump.fst.hier",
    )
    for name in generated:
        project.write(name, "old")
    project.commit("all, with what a run made")
    clean = project.state
    for name in generated:
        project.write(name, "new")
    assert project.state == clean
    project.commit("fifo: another depth", rtl__fifo_v="module fifo2;")
    assert project.since(clean).all_files == ("rtl/fifo.v",)


def test_a_wiki_in_another_place_is_none_either(project: Project) -> None:
    place = Layout(root=project.root, wiki=project.root / "docs" / "failures")
    project.commit("wiki", **{"docs__failures__index.md": "one", "docs__guide.md": "one"})
    project.write("docs/failures/index.md", "two")
    assert not Repository(place).state().dirty
    project.write("docs/guide.md", "two")
    assert Repository(place).state().dirty


def test_without_git_or_a_commit_the_state_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Repository(layout(tmp_path)).state() == Vcs()
    git(tmp_path, "init", "-q")
    assert Repository(layout(tmp_path)).state() == Vcs()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Repository(layout(tmp_path)).state() == Vcs()


# What lies between


def test_commits_between_with_their_files(project: Project) -> None:
    before = project.state
    project.commit("fifo: reset the pointer", rtl__fifo_v="module fifo(input rst);")
    project.commit("wiki: nightly", **{".agent__wiki__index.md": "x"})
    project.commit("tb: wait for reset", tb__test_v="module tb; initial #1;", tb__b_v="")
    found = project.since(before)
    assert (found.change, subjects(found), found.log_count) == (
        "commit",
        ["tb: wait for reset", "fifo: reset the pointer"],
        2,
    )
    assert (found.files, found.file_count) == (("rtl/fifo.v", "tb/b.v", "tb/test.v"), 3)
    assert found.text == "tb: wait for reset; fifo: reset the pointer"


@pytest.mark.parametrize(
    ("name", "before", "after", "changed"),
    [
        ("a.sv", "// a\nq <= d;\n", "// b\n\n  q <=  d;\n", False),
        ("a.sv", "// a\n", "// verilator lint_off WIDTH\n", True),
        ("a.sv", "#10 q = d;\n", "#20 q = d;\n", True),
        ("a.sv", "a <= b; // c\n", "a <= b;\n", True),
        ("a.vhd", "-- a\nq <= d;\n", "-- b\nq <= d;\n", False),
        ("a.vhd", "q <= d;\n", "-- q <= d;\n", True),
        ("a.py", "# a\nx = 1  \n", "# b\n\nx = 1\n", False),
        ("a.py", "if x:\n    y()\n", "if x:\n    pass\ny()\n", True),
        ("a.py", "    y()\n", "y()\n", True),
        ("a.f", "// a\n", "// b\n", True),
        ("a b/a.sv", "// a\n", "// b\n", False),
        ("ä.sv", "// a\n", "// b\n", True),
        ("rtl/a.sv", "q <= d;\nif (rst)\n  q <= 0;\n", "if (rst)\n  q <= 0;\nq <= d;\n", True),
    ],
)
def test_files_in_which_only_comments_and_white_space_changed_did_not_change(
    project: Project, name: str, before: str, after: str, changed: bool
) -> None:
    project.write(name, before)
    project.commit("before")
    commit = str(project.state.commit)
    project.write(name, after)
    found = Repository(layout(project.root))
    assert bool(found.changed_since(commit)) is changed
    project.commit("after")
    assert bool(found.changed_since(commit, project.state.commit)) is changed


def test_what_changed_only_in_comments_comes_last(project: Project) -> None:
    project.commit("bench", **{"bench.py": "# waits\nx = 1\n"})
    before = project.state
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);")
    project.commit("bench: comment", **{"bench.py": "# waits for reset\nx = 1\n"})
    found = Repository(layout(project.root)).difference(before, project.state, "", ("bench.py", "rtl/fifo.v"))
    assert (subjects(found), found.log_count, found.unread_count) == (["fifo: reset", "bench: comment"], 2, 1)
    assert (found.files, found.file_count) == (("rtl/fifo.v",), 1), "what it was fixed by"
    assert found.all_files == ("rtl/fifo.v",)


def test_where_only_comments_changed_they_are_the_change(project: Project) -> None:
    project.commit("bench", **{"bench.py": "# waits\n"})
    before = project.state
    project.commit("bench: comment", **{"bench.py": "# waits for reset\n"})
    project.commit("readme", **{"README.md": "# Other\n"})
    found = Repository(layout(project.root)).difference(before, project.state, "", ("bench.py",))
    assert (subjects(found), found.all_files) == (["bench: comment"], ("README.md", "bench.py"))


def test_commits_that_later_ones_undid_are_not_told(project: Project) -> None:
    before = project.state
    project.commit("regs: typo", rtl__regs_v="module regs")
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);")
    (project.root / "rtl/regs.v").unlink()
    project.commit("regs: removed")
    reads = ("rtl/fifo.v", "rtl/regs.v")
    fix = project.since(before, "rtl/regs.v", reads)
    assert (subjects(fix), fix.log_count, fix.unread_count, fix.files) == (["fifo: reset"], 1, 0, ("rtl/fifo.v",))
    fault = Repository(layout(project.root)).came_with(str(before.commit), project.state, "rtl/regs.v", reads)
    assert fault is not None
    assert (subjects(fault), fault.log_count) == (["fifo: reset"], 1)


def test_commits_of_the_wiki_alone_change_nothing(project: Project) -> None:
    before = project.state
    project.commit("wiki: nightly", **{".agent__wiki__index.md": "x"})
    assert project.since(before) == Difference(change="nothing")
    assert project.since(project.state) == Difference(change="nothing")


def test_the_last_change_is_the_newest_commit_that_touched_sources(project: Project) -> None:
    project.commit("fifo: rework", rtl__fifo_v="module fifo; // reworked")
    sources = str(project.state.commit)
    project.write(".agent/wiki/index.md", "of the plugin")
    project.commit("wiki")
    found = Repository(layout(project.root))
    assert project.state.commit != sources
    assert found.last_change(str(project.state.commit)) == sources
    assert found.last_change(sources) == sources
    assert found.last_change("0" * 40) == "0" * 40
    state = project.state
    assert found.with_source_commit(state) == replace(state, source_commit=sources)
    at_sources = Vcs(commit=sources)
    assert found.with_source_commit(at_sources) == at_sources
    assert found.with_source_commit(Vcs()) == Vcs()


def test_a_merge_stands_back_behind_its_commits(project: Project) -> None:
    before = project.state
    git(project.root, "switch", "-q", "-c", "fix")
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);")
    git(project.root, "switch", "-q", "main")
    project.commit("tb: other work", tb__test_v="module tb2;")
    git(project.root, "merge", "-q", "--no-ff", "-m", "Merge branch fix", "fix")
    assert sorted(subjects(project.since(before))) == ["fifo: reset", "tb: other work"]


def test_of_very_many_commits_those_that_touch_what_the_cause_names_come_first(project: Project) -> None:
    before = project.state
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);")
    for number in range(MOST_COMMITS + MOST_FILES):
        project.commit(f"other {number}", **{f"other__{number}_v": "x"})
    found = project.since(before, named="FATAL: rtl/fifo.v:56: overflow")
    last = MOST_COMMITS + MOST_FILES - 1
    assert subjects(found)[:4] == [f"other {last}", f"other {last - 1}", "fifo: reset", f"other {last - 2}"]
    assert (len(found.log), found.log_count) == (MOST_COMMITS, MOST_COMMITS + MOST_FILES + 1)
    assert found.files[0] == "rtl/fifo.v"
    assert (len(found.files), found.file_count) == (MOST_FILES, MOST_COMMITS + MOST_FILES + 1)
    assert found.text.endswith(f"; and {found.log_count - 3} more commits")


def test_a_file_is_named_only_by_its_whole_name(project: Project) -> None:
    project.commit("ram", rtl__ram_v="module ram;", rtl__dual_ram_v="module dual_ram;")
    before = project.state
    project.commit("ram: reset", rtl__ram_v="module ram(input rst);")
    project.commit("tb: other work", tb__test_v="module tb2;")
    repository = Repository(layout(project.root))
    for text in ("at rtl/dual_ram.v:56", "rtl/ram.vh: no such file", "rtl/ram.v.bak"):
        assert subjects(repository.difference(before, project.state, text, ("rtl/dual_ram.v",)))[0] == "tb: other work"
    for text in ("at rtl/ram.v:56", "'ram.v'", "see ram.v."):
        assert subjects(repository.difference(before, project.state, text, ("rtl/dual_ram.v",)))[0] == "ram: reset"


def test_a_file_of_the_same_name_in_another_folder_is_not_named(project: Project) -> None:
    project.commit("copies", old__ram_v="module ram;", rtl__ram_v="module ram;")
    before = project.state
    project.commit("rtl: reset", rtl__fifo_v="module fifo(input rst);")
    project.commit("old: reset", old__ram_v="module ram(input rst);")
    repository = Repository(layout(project.root))
    for text in ("rtl/ram.v:5: error", f"{project.root}/rtl/ram.v:5: error", "../rtl/ram.v:5: error"):
        assert subjects(repository.difference(before, project.state, text, ("rtl/fifo.v",)))[0] == "rtl: reset"
    for text in ("ram.v:5: error", "./ram.v:5: error"):  # relative to a folder that the text does not name
        read = ("rtl/ram.v", "rtl/fifo.v")
        assert subjects(repository.difference(before, project.state, text, read))[0] == "rtl: reset"
    for text in ("ram.v:5: error", "old/ram.v:5: error", f"{project.root}/old/ram.v:5", "build/copy/ram.v:5: error"):
        assert subjects(repository.difference(before, project.state, text, ("rtl/fifo.v",)))[0] == "old: reset"


def test_a_unit_in_quotes_names_its_file(project: Project) -> None:
    project.commit("package", rtl__types_vhd="package types is -- old")
    before = project.state
    project.commit("package: moved", rtl__types_vhd="package types is")
    project.commit("tb: other work", tb__test_v="module tb2;")
    repository = Repository(layout(project.root))
    text = 'rtl/top.vhd:4:10: unit "types" not found in library "work"'
    assert subjects(repository.difference(before, project.state, text, ("rtl/top.vhd",)))[0] == "package: moved"
    text = "rtl/top.vhd:4:10: no entity was compiled for component types"
    assert subjects(repository.difference(before, project.state, text, ("rtl/top.vhd",)))[0] == "package: moved"
    assert subjects(repository.difference(before, project.state, "no types", ("rtl/top.vhd",)))[0] == "tb: other work"


def test_commits_that_touch_what_the_simulation_read_come_first(project: Project) -> None:
    before = project.state
    project.commit("regs: ack", rtl__regs_v="module regs(input ack);")
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);")
    for number in range(3):
        project.commit(f"docs {number}", **{f"docs__{number}_md": "x"})
    told = "FATAL: rtl/fifo.v:56: overflow"
    repository = Repository(layout(project.root))
    found = repository.difference(before, project.state, told, ("rtl/regs.v",))
    assert subjects(found) == ["fifo: reset", "regs: ack", "docs 2", "docs 1", "docs 0"]
    assert found.files[:2] == ("rtl/fifo.v", "rtl/regs.v")
    unread = repository.difference(before, project.state, told)
    assert subjects(unread) == ["docs 2", "docs 1", "fifo: reset", "docs 0", "regs: ack"], "shown, but not first"
    assert "fifo: reset" in unread.text
    unknown = repository.difference(before, project.state)
    assert subjects(unknown) == ["docs 2", "docs 1", "docs 0", "fifo: reset", "regs: ack"]


READ = ("rtl/fifo.v", "bench/test_fifo.py", "sim/a/Makefile")
TEXTS = {
    "rtl/fifo.v": (
        "module fifo(input i, output reg regs);\n// depth\nparameter D = 8;\n"
        "ctrl #(.D(D)) u_ctrl();\nmem\n  u_mem();\nalways @* regs = regs + i; // regs of the\n"
    ),
    "rtl/ctrl.v": "module ctrl;\n",
    "rtl/mem.v": "module mem;\n",
    "rtl/dump.v": "module dump;\n",
    "rtl/regs.v": "module regs;\n",
    "rtl/cells.v": "module cells;\n",
    "rtl/lists.v": "module lists;\n",
    "rtl/more.v": "module more;\n",
    "bench/test_fifo.py": "# the bench\nx = 1  # regs in dump\nSOURCES = ['dump.v']\nassert dut.regs == 1\n",
    "bench/test_regs.py": "y = 1\n",
    "scripts/make_regs.py": "z = 1\n",
    "bench/gen.py": "z = 1\n",
    "sim/a/Makefile": (
        "VERILOG_ARGS = -y cells\nPARTS = fifo lists \\\n  more # of both\nTOP ?= lists\nall:\n\tpython bench/gen.py\n"
        "regs:\n\tmake COCOTB_TOPLEVEL=regs \\\n\t  SOURCES=rtl/regs.v\n"
    ),
}


@pytest.mark.parametrize(
    ("name", "text", "is_counted"),
    [
        ("rtl/regs.v", "module regs2;\n", True),
        ("rtl/lists.v", "module lists2;\n", True),
        ("rtl/more.v", "module more2;\n", True),
        ("bench/test_regs.py", "y = 2\n", True),
        ("bench/test_new.py", "y = 2\n", True),
        ("rtl/regs.v", None, False),
        ("rtl/fifo.v", TEXTS["rtl/fifo.v"].replace("// depth", "// the depth").replace("D = 8", "D = 7"), True),
        ("rtl/fifo.v", TEXTS["rtl/fifo.v"].replace("D = 8", "D = 9"), False),
        ("bench/test_fifo.py", TEXTS["bench/test_fifo.py"].replace("bench", "bench of the FIFO"), True),
        ("bench/test_fifo.py", TEXTS["bench/test_fifo.py"].replace("# the bench", "#5 x = 1;"), True),
        ("rtl/cells.v", "module cells2;\n", False),
        ("rtl/ctrl.v", "module ctrl2;\n", False),
        ("rtl/mem.v", "module mem2;\n", False),
        ("rtl/dump.v", "module dump2;\n", False),
        ("bench/gen.py", "z = 2\n", False),
        ("scripts/make_regs.py", "z = 2\n", True),
        ("conftest.py", "x = 1\n", False),
        ("bench/__init__.py", "x = 1\n", False),
        ("data/rom.hex", "00\n", False),
        ("sim/a/Makefile", "all:\n", False),
        ("sim/b/Makefile", "all:\n", True),
        ("sim/Makefile", "all:\n", False),
        ("rtl/regs.vhd", "entity regs is\n", False),
    ],
)
def test_commits_that_change_no_code_that_was_read_are_counted(
    project: Project, name: str, text: str | None, is_counted: bool
) -> None:
    for file, content in TEXTS.items():
        project.write(file, content)
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v=TEXTS["rtl/fifo.v"].replace("D = 8", "D = 7"))
    if text is None:
        (project.root / name).unlink()
    else:
        project.write(name, text)
    project.commit("beside")
    project.commit("more", rtl__other_v="module other;")
    found = Repository(layout(project.root)).came_with(str(before.commit), project.state, "", READ)
    assert found is not None
    assert (found.log_count, found.unread_count) == (3, 2 if is_counted else 1)
    assert {*subjects(found)[3 - found.unread_count :]} == {"more", *(["beside"] if is_counted else [])}
    fix = Repository(layout(project.root)).difference(before, project.state, "", READ)
    assert fix.log_count == 3
    assert "beside" in fix.text or is_counted or text is None
    unknown = Repository(layout(project.root)).came_with(str(before.commit), project.state)
    assert unknown is not None
    assert not unknown.unread_count, "nothing is known to be read"


@pytest.mark.parametrize(
    ("name", "text", "said", "is_counted"),
    [
        ("rtl/regs.v", "module regs;", "/* regs unit */ module fifo;", True),
        ("rtl/regs.v", "module regs;", "/*\n * ports of\n * regs interface\n */\nmodule fifo;", True),
        ("rtl/regs.v", "module regs;", "/* of the */ module fifo; regs u_regs(); /* unit */", False),
        ("rtl/regs.v", "module regs;", 'module fifo; string all = "rtl/*.v"; regs u_regs(); // */', False),
        ("rtl/regs.v", "module regs;", "module fifo; // as /*\nregs u_regs();", False),
        ("rtl/regs.v", "module regs;", "module fifo; /* not closed\nregs u_regs();", False),
        ("rtl/regs.v", "module regs;", "module fifo; initial i-- ; regs\nu_regs();", False),
        ("rtl/regs.v", "module regs;", "module fifo; REGS u_regs();", True),
        ("rtl/regs.v", "/* REGS */ module regs;", "module fifo; REGS u_regs();", True),
        ("rtl/regs.v", "module REGS;", "module fifo; REGS u_regs();", False),
        ("rtl/regs.vhd", "entity regs is", "module fifo; REGS u_regs();", False),
        ("rtl/regs.vhd", "entity regs is", "module fifo; /* regs unit */", True),
    ],
)
def test_a_module_that_only_a_comment_names_or_that_differs_in_case_was_not_read(
    project: Project, name: str, text: str, said: str, *, is_counted: bool
) -> None:
    project.commit("all files", rtl__fifo_v=f"{said}\n", **{name: f"{text}\n", "rtl/top.vhd": "entity top is\n"})
    before = project.state
    project.commit("fifo: width", rtl__fifo_v=f"{said}\nparameter D = 7;\n")
    project.commit("beside", **{name: f"{text}\n// 2\nx\n"})
    found = Repository(layout(project.root)).came_with(
        str(before.commit), project.state, "", ("rtl/fifo.v", "rtl/top.vhd")
    )
    assert found is not None
    assert found.unread_count == is_counted


@pytest.mark.parametrize(
    ("said", "is_counted"),
    [
        ("-- REGS unit", True),
        ("/* of\nregs unit */", True),
        ("constant quote : character := '\"'; -- regs unit", True),
        ('constant text : string := "--"; u_regs : entity work.REGS;', False),
    ],
)
def test_names_in_vhdl_have_no_case(project: Project, said: str, *, is_counted: bool) -> None:
    project.commit("all files", **{"rtl/fifo.vhd": f"{said}\n", "rtl/regs.vhd": "entity regs is\n"})
    before = project.state
    project.commit("fifo: width", **{"rtl/fifo.vhd": f"{said}\n-- 8\nsignal w;\n"})
    project.commit("beside", **{"rtl/regs.vhd": "entity regs is\nport\n"})
    found = Repository(layout(project.root)).came_with(str(before.commit), project.state, "", ("rtl/fifo.vhd",))
    assert found is not None
    assert found.unread_count == is_counted


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("from cocotb_tools.runner import get_runner", True),
        ("def build(runner):\n    runner.build(verilog_sources=SOURCES)", True),
        ("from cocotb_test.simulator import run", True),
        ("from vunit import VUnit", True),
        ("subprocess.run(['make', f'WIDTH={width}'])", True),
        ("os.system(f'iverilog -o {top} {top}.v')", True),
        ("class Test(uvm_test):\n    def build_phase(self):\n        self.env.build()", False),
        ("assert SIM == 'verilator' and run('model') == 1", False),
    ],
)
def test_a_python_file_that_calls_a_runner(project: Project, code: str, *, calls: bool) -> None:
    project.commit("helper", **{"build.py": f"{code}\n"})
    found = Repository(layout(project.root)).calling_runners(["build.py", "rtl/fifo.v"], project.state.commit)
    assert found == ({"build.py"} if calls else set())


@pytest.mark.parametrize(
    ("name", "files", "is_counted"),
    [
        ("img/fsm.png", {}, True),
        ("img/fsm.DOT", {}, True),
        ("notes/fifo.drawio.svg", {}, True),
        (".vscode/tasks.json", {}, True),
        (".editorconfig", {}, True),
        ("img/fsm.bmp", {}, False),
        ("img/frame.yaml", {}, False),
        ("img/fsm.png", {"bench/test_fifo.py": "imread(HERE / 'fsm.png')\n"}, False),
        ("img/fsm.png", {"bench/test_fifo.py": "for each in (HERE / 'img').iterdir(): imread(each)\n"}, False),
        ("img/fsm.png", {"rtl/fifo.v": 'module fifo; initial $readmemh("../img/fsm.png", m);'}, False),
        ("img/fsm.png", {"tools/convert.py": "for each in HERE.glob('*.png'): convert(each)\n"}, False),
        ("img/fsm.png", {"tools/convert.py": "convert(f'{name}.png')\n"}, False),
        ("img/fsm.png", {"tools/convert.py": "convert(Path(name).with_suffix('.png'))\n"}, False),
        ("img/fsm.png", {"tools/convert.py": "convert('frame%03d.png' % number)\n"}, False),
        ("img/fsm.png", {"sim/a/Makefile": "%.hex: ../%.png\n\tconvert $< $@\n"}, False),
        ("img/fsm.png", {"tools/plot.py": "savefig('rates.png')\n", "README.md": "![](img/fsm.png)\n"}, True),
    ],
)
def test_a_drawing_was_not_read_unless_code_may_name_it(
    project: Project, name: str, files: dict[str, str], is_counted: bool
) -> None:
    for file, content in (TEXTS | {name: "1", "img/other.svg": "fsm.png"} | files).items():
        project.write(file, content)
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v="module fifo2;")
    project.commit("drawing", **{name: "2"})
    found = project.since(before, reads=READ)
    assert (found.unread_count, found.all_files == ("rtl/fifo.v",)) == (int(is_counted), is_counted)
    assert project.since(before).unread_count == 0, "nobody knows what was read"
    project.commit("regs", **{name: "3", "rtl/fifo.v": "module fifo3;"})
    assert (project.since(before, reads=READ).all_files == ("rtl/fifo.v",)) is is_counted


@pytest.mark.parametrize(
    ("text", "is_counted"),
    [
        ("expected 3, got 4", True),
        ("error: Unknown module type: regs", False),
        ("AttributeError: top contains no object named rd_ptr", False),
        ('no declaration for "fifo_pkg"', False),
        ("regs.v: expected 3, got 4", False),
    ],
)
def test_a_removed_file_matters_only_if_the_failure_lacks_something(
    project: Project, text: str, is_counted: bool
) -> None:
    for file, content in TEXTS.items():
        project.write(file, content)
    project.commit("all files")
    before = str(project.state.commit)
    project.commit("fifo: width", rtl__fifo_v=TEXTS["rtl/fifo.v"].replace("D = 8", "D = 7"))
    (project.root / "rtl/regs.v").rename(project.root / "rtl/registers.v")
    project.commit("regs: another name")
    found = Repository(layout(project.root)).came_with(before, project.state, text, READ)
    assert found is not None
    assert found.unread_count == int(is_counted)


SCRIPT = "#!/usr/bin/env python3\n"


@pytest.mark.parametrize(
    ("head", "data", "is_counted"), [("", "open(x)\n", True), (SCRIPT, "open(x)\n", False), (SCRIPT, "", True)]
)
def test_an_executable_file_that_says_what_runs_it_may_have_written_data(
    project: Project, head: str, data: str, is_counted: bool
) -> None:
    for file, content in TEXTS.items():
        project.write(file, content)
    project.write("bench/test_fifo.py", f"{TEXTS['bench/test_fifo.py']}{data}")
    project.write("bench/test_regs.py", f"{head}y = 1\n")
    (project.root / "bench/test_regs.py").chmod(0o755)
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v=TEXTS["rtl/fifo.v"].replace("D = 8", "D = 7"))
    project.commit("regs: bench", **{"bench/test_regs.py": f"{head}y = 2\n"})
    found = Repository(layout(project.root)).came_with(str(before.commit), project.state, "", READ)
    fix = project.since(before, reads=READ)
    assert found is not None
    assert [found.unread_count, fix.unread_count] == [int(is_counted)] * 2
    assert subjects(found)[0] == subjects(fix)[0] == "fifo: width"


@pytest.mark.parametrize(
    ("files", "is_counted"),
    [
        ({}, True),
        ({"bench/test_fifo.py": "from importlib import import_module\n"}, False),
        ({"bench/test_fifo.py": "import subprocess\n"}, False),
        ({"bench/test_fifo.py": "run('regs.py')\n"}, False),
        ({"sim/a/Makefile": "all:\n\tpython3 -m vip.regs.regs\n"}, False),
        ({"conftest.py": "import vip.regs.regs\n"}, False),
        ({"vip/__init__.py": None}, False),
    ],
)
def test_a_module_of_a_package_that_nothing_imports_was_not_read(
    project: Project, files: dict[str, str | None], is_counted: bool
) -> None:
    bench = {"bench/test_fifo.py": "import vip.fifo\n", "vip/__init__.py": "", "vip/fifo.py": "", "sim/a/Makefile": ""}
    for file, content in (bench | {"vip/regs/regs.py": "x = 1\n"} | files).items():
        if content is not None:
            project.write(file, content)
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v="module fifo2;")
    project.commit("regs: model", **{"vip/regs/regs.py": "x = 2\n"})
    reads = (*READ, "vip/__init__.py", "vip/fifo.py")
    found = project.since(before, reads=reads)
    assert (found.unread_count, found.all_files == ("rtl/fifo.v",)) == (int(is_counted), is_counted)
    edited = replace(before, dirty=True, changes="c" * 12, edited=("vip/regs/regs.py",))
    dropped = project.since(edited, reads=reads)
    assert (dropped.note == "", dropped.all_files == ("rtl/fifo.v",)) == (is_counted, is_counted)


@pytest.mark.parametrize(
    ("files", "reads", "is_counted"),
    [
        ({}, (), True),
        ({"rtl/fifo.v": 'module fifo; initial $readmemh("a.hex", m);'}, (), False),
        ({"bench/test_fifo.py": "data = open('a.txt')\n"}, (), False),
        ({"bench/test_fifo.py": "import subprocess\n"}, (), False),
        ({"bench/test_fifo.py": "import wrap\n"}, (), False),
        ({}, ("build/wrap_2.v",), False),
    ],
)
def test_a_script_that_nothing_names_wrote_nothing_that_was_read(
    project: Project, files: dict[str, str], reads: tuple[str, ...], is_counted: bool
) -> None:
    bench = {"bench/test_fifo.py": "import cocotb\n", "rtl/fifo.v": "module fifo;", "rtl/wrap.py": "x = 1\n"}
    for file, content in (bench | files).items():
        project.write(file, content)
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v=f"{(bench | files)['rtl/fifo.v']} // 1\nwire w;")
    project.commit("wrap: another port", **{"rtl/wrap.py": "x = 2\n"})
    found = project.since(before, reads=("rtl/fifo.v", "bench/test_fifo.py", *reads))
    assert found.unread_count == int(is_counted)


@pytest.mark.parametrize("generated", [True, False])
def test_commits_of_other_files_did_not_repair_a_build_of_generated_hdl(project: Project, *, generated: bool) -> None:
    for file, content in TEXTS.items():
        project.write(file, content)
    project.commit("all files")
    before = project.state
    project.commit("regs: rework", rtl__regs_v="module regs2;\n")
    found = project.since(before, reads=(*READ, *(["build/wrap.v"] if generated else [])))
    note = "a change that is not on record: no commit touches what failed, and git does not have build/wrap.v"
    assert (found.change, found.log_count, found.note) == (("unrecorded", 0, note) if generated else ("commit", 1, ""))


def test_files_of_a_submodule_are_not_generated(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    library = tmp_path_factory.mktemp("library")
    git(library, "init", "--quiet")
    (library / "cell.v").write_text("module cell;\n")
    git(library, "add", ".")
    git(library, "commit", "--quiet", "--message", "cell")
    git(project.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "ip")
    for file, content in TEXTS.items():
        project.write(file, content)
    project.commit("all files")
    before = project.state
    project.commit("regs: rework", rtl__regs_v="module regs2;\n")
    assert project.since(before, reads=(*READ, "ip/cell.v")).change == "commit"


def test_a_build_of_make_that_ended_before_python_read_no_test_module(project: Project) -> None:
    for file, content in TEXTS.items():
        project.write(file, content)
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v=TEXTS["rtl/fifo.v"].replace("D = 8", "D = 7"))
    project.commit("regs: bench", **{"bench/test_regs.py": "y = 2\n"})
    project.commit("generator", **{"bench/gen.py": "z = 2\n"})
    build = project.since(before, reads=("rtl/fifo.v", "sim/a/Makefile"))
    assert (subjects(build), build.unread_count) == (["fifo: width", "generator", "regs: bench"], 1)
    assert project.since(before, reads=("rtl/fifo.v",)).unread_count == 0, "nobody knows what runs this build"


def test_a_file_is_restored_to_a_state_between_a_pass_and_a_failure(project: Project) -> None:
    project.commit("all", rtl__a_v="module a;\n", rtl__b_v="module b0;\n", rtl__c_v="module c0;\n")
    passed = str(project.state.commit)
    project.commit("b: 1", rtl__b_v="module b1;\n", rtl__c_v="module c1;\n")
    project.commit("a, b and c: 2", rtl__a_v="module a2;\n", rtl__b_v="module b2;\n", rtl__c_v="module c2;\n")
    failed = str(project.state.commit)
    project.commit("fix", rtl__a_v="// 3\nmodule a;\n", rtl__b_v="// 3\nmodule b1;\n", rtl__c_v="module c3;\n")
    files, repository = ("rtl/a.v", "rtl/b.v", "rtl/c.v"), Repository(layout(project.root))
    assert repository.restored(files, (passed, failed), project.state) == files[:2]
    assert repository.restored(files, (passed, passed), project.state) == files[:1]
    project.write("rtl/c.v", "module c1;\n")
    edited = Repository(layout(project.root))
    assert edited.restored(files, (passed, failed), project.state) == files


@pytest.mark.parametrize(
    ("makefile", "reads", "is_counted"),
    [
        ("sim/b/Makefile", ("rtl/fifo.v", "bench/test_fifo.py"), True),
        ("sim/b/Makefile", ("rtl/fifo.v", "bench/test_fifo.py", "sim/b/Makefile"), False),
        ("sim/b/Makefile", ("rtl/fifo.v", "sim/test_fifo.py"), False),
        ("sim/b/Makefile", ("bench/test_fifo.py",), False),
        ("sim/b/Makefile", ("rtl/fifo.v",), False),
        ("bench/Makefile", ("rtl/fifo.v", "bench/test_fifo.py"), False),
        ("firmware/Makefile", ("rtl/fifo.v", "bench/test_fifo.py"), False),
    ],
)
def test_the_makefile_of_another_simulation_was_not_read(
    project: Project, makefile: str, reads: tuple[str, ...], is_counted: bool
) -> None:
    for file, content in TEXTS.items():
        project.write(file, content)
    included = "" if "firmware" in makefile else "include $(shell cocotb-config --makefiles)/Makefile.sim\n"
    project.write(makefile, f"TOPLEVEL = regs\n{included}")
    project.write("sim/test_fifo.py", "")
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v=TEXTS["rtl/fifo.v"].replace("D = 8", "D = 7"))
    project.commit("fifo: bench", **{"bench/test_fifo.py": "x = 2\n", "sim/test_fifo.py": "x = 2\n"})
    project.commit("regs: other sources", **{makefile: f"TOPLEVEL = regs2\n{included}"})
    fix = project.since(before, reads=reads)
    assert (makefile not in fix.all_files) is is_counted
    assert (subjects(fix)[-1] == "regs: other sources" and fix.unread_count == 1) is is_counted


def test_a_module_is_looked_for_in_the_files_that_a_build_did_not_read(project: Project) -> None:
    project.commit(
        "more",
        rtl__lane_v="// module ghost\n  module lane #(parameter W = 1) (input a);\n",
        rtl__lanes_v="module lanes;",
    )
    commit, repository = str(project.state.commit), Repository(layout(project.root))
    assert repository.defining("lane", commit, ["rtl/fifo.v"]) == "rtl/lane.v"
    assert repository.defining("lane", commit, ["rtl/fifo.v", "rtl/lane.v"]) == ""
    assert repository.defining("lane", commit, ["test_fifo.py"]) == "", "nobody knows what the build read"
    assert repository.defining("ghost", commit, ["rtl/fifo.v"]) == ""
    assert repository.defining("la.e", commit, ["rtl/fifo.v"]) == ""


def test_sources_that_were_not_read_are_not_among_the_files_that_differ(project: Project) -> None:
    for file, content in TEXTS.items():
        project.write(file, content)
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v="module fifo2;")
    project.commit("regs: bench", **{"bench/test_regs.py": "y = 2\n"})
    assert project.since(before, reads=READ).all_files == ("rtl/fifo.v",), "the stimulus of the FIFO is the same"
    assert set(project.since(before).all_files) == {"rtl/fifo.v", "bench/test_regs.py"}


def test_designs_of_one_runner_are_told_apart_by_what_was_built(project: Project) -> None:
    for name in ("fifo", "regs"):
        project.write(f"rtl/{name}.v", f"module {name};\n")
    project.write("test_all.py", "build(['rtl/fifo.v'])\nbuild(['rtl/regs.v'])\nrun('gen.py')\n")
    project.commit("all files")
    before = project.state
    project.commit("fifo: width", rtl__fifo_v="module fifo2;")
    project.commit("regs: ack", rtl__regs_v="module regs2;")
    project.commit("generator", gen_py="x = 1\n")
    repository = Repository(layout(project.root))
    found = repository.came_with(str(before.commit), project.state, "", ("rtl/fifo.v", "test_all.py"))
    assert found is not None
    assert (subjects(found), found.unread_count) == (["fifo: width", "generator", "regs: ack"], 1)


def test_a_new_file_may_be_part_of_a_fix_and_a_removed_one_of_a_fault(project: Project) -> None:
    before = project.state
    project.commit("fifo: width", rtl__fifo_v="module fifo2;")
    project.commit("regs", rtl__regs_v="module regs;")
    repository = Repository(layout(project.root))
    fix = repository.difference(before, project.state, "", ("rtl/fifo.v",))
    assert (subjects(fix), fix.unread_count) == (["fifo: width", "regs"], 0)
    fault = repository.came_with(str(before.commit), project.state, "", ("rtl/fifo.v",))
    assert fault is not None
    assert (subjects(fault), fault.unread_count) == (["fifo: width", "regs"], 1)


def test_all_commits_are_told_where_none_touches_what_was_read(project: Project) -> None:
    before = project.state
    project.commit("regs: ack", rtl__regs_v="module regs;")
    project.commit("data", data__rom_hex="00")
    found = Repository(layout(project.root)).came_with(str(before.commit), project.state, "", ("rtl/fifo.v",))
    assert found is not None
    assert (subjects(found), found.unread_count) == (["data", "regs: ack"], 0)


def test_a_commit_that_adds_a_source_beside_those_that_were_read_comes_before_others(project: Project) -> None:
    before = project.state
    project.commit("sync: back", rtl__sync_v="module sync;")
    project.commit("other: new", other__new_v="module other;")
    project.commit("regs: ack", rtl__regs_v="module regs;")
    (project.root / "other/new.v").write_text("module other2;")
    project.commit("other: ack")
    fix = Repository(layout(project.root)).difference(before, project.state, "", ("rtl/fifo.v",))
    assert (subjects(fix), fix.unread_count) == (["regs: ack", "sync: back", "other: ack", "other: new"], 0)


def test_where_as_many_files_were_read_as_a_record_keeps_more_may_have_been(project: Project) -> None:
    before = project.state
    project.commit("fifo: width", rtl__fifo_v="module fifo2;")
    project.commit("regs: ack", rtl__regs_v="module regs;")
    reads = ("rtl/fifo.v", *(f"rtl/{number}.v" for number in range(MOST_READ - 1)))
    found = Repository(layout(project.root)).came_with(str(before.commit), project.state, "", reads)
    assert found is not None
    assert (subjects(found), found.unread_count) == (["fifo: width", "regs: ack"], 0)


@pytest.mark.parametrize("reads", [(), ("tb/test.v",)], ids=["unknown_reads", "known_reads"])
@pytest.mark.parametrize(
    "text", ["make: *** No rule to make target '/r/rtl/dat.v', needed by 'x'.", "iverilog: rtl/dat.v: No such file"]
)
def test_a_missing_file_came_with_the_commit_that_wrote_its_name(
    project: Project, text: str, reads: tuple[str, ...]
) -> None:
    project.commit("list", files_json='["rtl/fifo.v"]')
    before = project.state
    project.commit("another name", files_json='["rtl/dat.v"]')
    project.commit("tb: other work", tb__test_v="module tb2;")
    project.commit("more work", other__a_v="x")
    found = Repository(layout(project.root)).came_with(str(before.commit), project.state, text, reads)
    assert found is not None
    assert subjects(found)[0] == "another name"


@pytest.mark.parametrize(
    ("written", "removed", "elsewhere", "lacks"),
    [
        ("rtl/dat.v", False, "", True),
        ("rtl/more_dat.v", False, "", False),
        ("rtl/fifo.v", True, "", True),
        ("rtl/fifo.v rtl/dat.v", False, "rtl/dat.v", False),
        ("rtl/fifo.v", False, "", False),
    ],
    ids=["a new name", "no such name", "removed", "named before", "there"],
)
def test_no_build_can_have_lacked_a_file_that_nothing_named_or_that_git_had(
    project: Project, *, written: str, removed: bool, elsewhere: str, lacks: bool
) -> None:
    project.commit("list", Makefile="sources = rtl/fifo.v", **{"other/Makefile": elsewhere})
    passed = str(project.state.commit)
    if removed:
        (project.root / "rtl/fifo.v").unlink()
    project.commit("tidied", Makefile=f"sources = {written} rtl/sync.v")
    failed = str(project.state.commit)
    missing = "rtl/fifo.v" if removed or "dat" not in written else "rtl/dat.v"
    text = f"make: *** No rule to make target '{missing}', needed by 'all'."
    repository = Repository(layout(project.root))
    assert repository.lacks_unlike(passed, failed, text, ("Makefile", missing)) is lacks
    assert not repository.lacks_unlike(failed, failed, text, ("Makefile", missing))
    assert not repository.lacks_unlike(passed, failed, text, ())
    assert not repository.lacks_unlike(passed, failed, "make: *** [Makefile:3: all] Error 2", ("Makefile", missing))


def test_a_source_that_was_removed_beside_those_that_were_read_counts_with_them(project: Project) -> None:
    project.commit("more", rtl__sync_v="module sync;", other__a_v="module a;")
    before = str(project.state.commit)
    for name in ("rtl/sync.v", "other/a.v"):
        (project.root / name).unlink()
    project.commit("tidied")
    repository = Repository(layout(project.root))
    assert repository.with_removed(("rtl/fifo.v",), before) == ("rtl/fifo.v", "rtl/sync.v")
    assert repository.with_removed((), before) == ()


def test_a_missing_file_came_with_the_commit_that_removed_it(project: Project) -> None:
    before = project.state
    (project.root / "rtl/fifo.v").unlink()
    project.commit("tidied")
    project.commit("tb: other work", tb__test_v="module tb2;")
    text = "error: Unable to open input file rtl/fifo.v"
    found = Repository(layout(project.root)).came_with(str(before.commit), project.state, text, ("tb/test.v",))
    assert found is not None
    assert subjects(found) == ["tidied", "tb: other work"]


def test_a_line_that_reports_progress_points_to_no_file(project: Project) -> None:
    before = project.state
    project.commit("tb: monitor", tb__monitor_v="module monitor;")
    for number in range(3):
        project.commit(f"tb: monitor {number}", tb__monitor_v=f"module monitor{number};")
    project.commit("fifo: depth", rtl__fifo_v="module fifo2;")
    text = "   50.00ns INFO     tb/monitor.v(28) [mon]: read\n   60.00ns ERROR    tb/test.v(3) [scb]: expected 1, got 2"
    found = Repository(layout(project.root)).came_with(
        before.commit or "", project.state, text, ("rtl/fifo.v", "tb/monitor.v")
    )
    assert found is not None
    assert subjects(found)[0] == "fifo: depth"


def test_the_source_of_a_handle_in_an_assertion_is_no_more_suspect_than_others(project: Project) -> None:
    before = project.state
    project.commit("fifo: depth", rtl__fifo_v="module fifo2;")
    project.commit("pointer: wrap", rtl__pointer_v="module pointer2;")
    text = "assert 0 == 1\n + where 0 = HierarchyObject(fifo with definition fifo (at rtl/fifo.v)).full"
    reads = ("rtl/fifo.v", "rtl/pointer.v")
    found = Repository(layout(project.root)).came_with(before.commit or "", project.state, text, reads)
    assert found is not None
    assert subjects(found) == ["pointer: wrap", "fifo: depth"]


def test_other_changes_at_the_same_commit(project: Project) -> None:
    clean = project.state
    project.write("rtl/fifo.v", "module fifo(input rst);")
    found = project.since(clean)
    assert (found.change, found.files, found.text) == (
        "uncommitted",
        ("rtl/fifo.v",),
        "uncommitted changes in rtl/fifo.v",
    )
    edited = project.state
    assert project.since(edited).change == "nothing"
    git(project.root, "checkout", "-q", "--", ".")
    assert project.since(edited).text == "dropping the uncommitted changes in rtl/fifo.v"
    assert project.since(edited).all_files == ("rtl/fifo.v",)
    unnamed = replace(edited, edited=())  # as in a record of an older version
    assert project.since(unnamed).text == "dropping the uncommitted changes of the failing run"
    assert project.since(unnamed).all_files == ()


def test_changes_that_nobody_could_read_are_not_taken_for_the_same(project: Project) -> None:
    project.write("rtl/fifo.v", "module fifo(input rst);")
    assert project.since(replace(project.state, changes=None)).change == "uncommitted"


def test_changes_on_top_of_commits_are_named(project: Project) -> None:
    before = project.state
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);")
    project.write("tb/test.v", "module tb2;")
    found = project.since(before)
    assert (found.text, found.note) == ("fifo: reset", "uncommitted changes in tb/test.v")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("module cim;\n// a note\n", "dropping the uncommitted changes in rtl/fifo.v"),
        ("module cim(input rst);\n", "cim: note"),
    ],
)
def test_commits_that_change_comments_alone_fix_nothing_where_uncommitted_changes_were_dropped(
    project: Project, text: str, told: str
) -> None:
    project.commit("cim", rtl__cim_v="module cim;\n")
    project.write("rtl/fifo.v", "module fifo(output broken);")
    failed = project.state
    git(project.root, "checkout", "-q", "--", "rtl/fifo.v")
    project.commit("cim: note", rtl__cim_v=text)
    assert project.since(failed).text == told


def test_commits_to_files_for_people_fix_nothing_where_uncommitted_changes_were_dropped(project: Project) -> None:
    project.write("rtl/fifo.v", "module fifo(output broken);")
    failed = project.state
    git(project.root, "checkout", "-q", "--", "rtl/fifo.v")
    project.commit("docs: notes", README="notes")
    found = project.since(failed)
    assert (found.change, found.log) == ("uncommitted", ())
    assert found.text == "dropping the uncommitted changes in rtl/fifo.v"


@pytest.mark.parametrize(
    ("reads", "told"),
    [
        (("rtl/fifo.v", "tb/test.v"), "uncommitted changes in rtl/fifo.v"),
        (("rtl/fifo.v", "rtl/cim.v"), "cim: note"),
        (("rtl/fifo.v", "tb/list.v"), "cim: note"),
        (("tb/test.v", "rtl/other.v"), "cim: note"),
        ((), "cim: note"),
    ],
)
def test_commits_to_sources_that_were_not_read_have_no_part_in_what_an_edit_repaired(
    project: Project, reads: Sequence[str], told: str
) -> None:
    project.commit("a bench that uses a module of a library", tb__list_v="module list; cim u(); endmodule")
    failed = project.state
    project.commit("cim: note", rtl__cim_v="module cim;")
    project.write("rtl/fifo.v", "module fifo(input rst);")
    assert project.since(failed, reads=reads).text == told


def test_edits_of_sources_that_were_not_read_are_not_told_beside_commits(project: Project) -> None:
    project.commit("more", rtl__cim_v="module cim;")
    project.write("rtl/cim.v", "module cim2;")
    failed = project.state
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);")
    project.write("rtl/cim.v", "module cim3;")
    read = ("rtl/fifo.v", "tb/test.v")
    assert (project.since(failed, reads=read).text, project.since(failed, reads=read).note) == ("fifo: reset", "")
    assert project.since(failed).note == "uncommitted changes in rtl/cim.v"
    git(project.root, "checkout", "-q", "--", ".")
    assert project.since(failed, reads=read).note == ""
    assert project.since(failed).note == "dropping the failing run's uncommitted changes in rtl/cim.v"


def test_beside_edits_of_what_was_read_commits_that_cannot_matter_are_counted(project: Project) -> None:
    project.commit("cim", rtl__cim_v="module cim;")
    project.write("rtl/fifo.v", "module broken;")
    failed = project.state
    git(project.root, "checkout", "-q", "--", ".")
    project.commit("words", data__words_dat="1")
    project.commit("cim: more", rtl__cim_v="module cim2;")
    found = project.since(failed, reads=("rtl/fifo.v", "tb/test.v"))
    assert (found.text, found.unread_count) == ("words", 1)
    assert found.note == "dropping the failing run's uncommitted changes in rtl/fifo.v"


def test_edits_of_sources_that_were_not_read_are_no_change(project: Project) -> None:
    project.commit("more", rtl__cim_v="module cim;")
    clean = project.state
    project.write("rtl/cim.v", "module cim2;")
    read = ("rtl/fifo.v", "tb/test.v")
    assert project.since(clean, reads=read).change == "nothing"
    assert project.since(clean).change == "uncommitted", "it is unknown what was read"
    unnamed = replace(project.state, edited=())  # as in a record of an older version
    project.write("rtl/cim.v", "module cim3;")
    assert project.since(unnamed, reads=read).change == "uncommitted"
    project.write("rtl/fifo.v", "module fifo2;")
    assert project.since(clean, reads=read).change == "uncommitted"


def test_of_a_failure_with_uncommitted_changes_a_later_commit_alone_is_not_told(project: Project) -> None:
    project.write("rtl/fifo.v", "module broken;")
    before = project.state
    git(project.root, "checkout", "-q", "--", ".")
    project.commit("tb: more", tb__test_v="module tb2;")
    found = project.since(before)
    assert (found.text, found.note) == (
        "tb: more",
        "dropping the failing run's uncommitted changes in rtl/fifo.v",
    )
    assert found.all_files == ("tb/test.v", "rtl/fifo.v"), "the edit that is gone differs, too"


def test_an_older_commit_fixes_nothing(project: Project) -> None:
    project.commit("fifo: break it", rtl__fifo_v="broken")
    before = project.state
    git(project.root, "switch", "-q", "--detach", "HEAD^")
    assert project.since(before) == Difference(change="older")


def test_a_branch_without_the_failing_commit_fixes_nothing(project: Project) -> None:
    git(project.root, "switch", "-q", "-c", "feature")
    project.commit("fifo: break it", rtl__fifo_v="broken")
    before = project.state
    git(project.root, "switch", "-q", "main")
    project.commit("tb: other work", tb__test_v="module tb2;")
    assert project.since(before) == Difference(change="branch")
    git(project.root, "merge", "-q", "-m", "merge", "feature")
    project.commit("fifo: repair", rtl__fifo_v="module fifo(input rst);")
    assert "fifo: repair" in subjects(project.since(before))


def test_a_rebased_branch_names_what_is_new(project: Project) -> None:
    git(project.root, "switch", "-q", "-c", "feature")
    project.commit("fifo: first step", rtl__fifo_v="step one")
    before = project.state
    git(project.root, "switch", "-q", "main")
    project.commit("tb: other work", tb__test_v="module tb2;")
    git(project.root, "switch", "-q", "feature")
    git(project.root, "rebase", "-q", "main")
    project.commit("fifo: second step", rtl__fifo_v="step two")
    found = project.since(before)
    assert (found.change, subjects(found)) == ("commit", ["fifo: second step", "tb: other work"])


def test_an_amended_commit_is_the_change(project: Project) -> None:
    project.commit("fifo: reset", rtl__fifo_v="broken")
    before = project.state
    project.write("rtl/fifo.v", "module fifo(input rst);")
    git(project.root, "commit", "-qa", "--amend", "--no-edit")
    found = project.since(before)
    assert (found.change, subjects(found), found.files) == ("commit", ["fifo: reset"], ("rtl/fifo.v",))


def test_a_commit_that_is_gone_is_told(project: Project) -> None:
    found = project.since(Vcs(commit="a" * 40, branch="main"))
    assert (found.change, found.log, found.log_count) == ("commit", (), 0)
    assert found.text == 'a commit after aaaaaaaaaaaa up to "all"; the history in between is not in this clone'


def test_a_clone_without_the_history_between_is_told(project: Project, tmp_path: Path) -> None:
    clone = Project(tmp_path / "clone")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{project.root}", "clone")
    before = clone.state
    for number in range(3):
        project.commit(f"fifo: step {number}", rtl__fifo_v=f"step {number}")
    git(clone.root, "fetch", "-q", "--depth=1", "origin", "main")
    git(clone.root, "reset", "-q", "--hard", "FETCH_HEAD")
    found = clone.since(before)
    assert (found.change, found.log_count, found.files) == ("commit", 0, ("rtl/fifo.v",))
    assert found.text.endswith(' up to "fifo: step 2"; the history in between is not in this clone')


@pytest.mark.parametrize(("before", "told"), [(Vcs(), "failed"), (None, "passes")])
def test_a_run_without_a_commit_is_told(project: Project, before: Vcs | None, told: str) -> None:
    found = Repository(layout(project.root)).difference(before or project.state, project.state if before else Vcs())
    assert (found.change, found.text) == (
        "unrecorded",
        f"a change that is not on record, because the run that {told} recorded no commit",
    )


# Owners and authors


def _as(project: Project, name: str, subject: str, text: str) -> str:
    project.write("rtl/fifo.v", text)
    git(project.root, "add", "--all")
    git(project.root, "-c", f"user.name={name}", "commit", "-q", "-m", subject)
    return git(project.root, "rev-parse", "HEAD").stdout.strip()


def test_the_authors_are_those_of_the_lines_before_the_change(project: Project) -> None:
    _as(project, "Anna", "fifo", "one\ntwo\nthree\nfour\n")
    before = _as(project, "Bert", "fifo: more", "one\n2\nthree\nfour\nfive\n")
    now = _as(project, "Carl", "fifo: fix", "ONE\nTWO\nTHREE\nfour\nfive\nsix\n")
    for root in (project.root, project.root / "rtl"):
        found = Repository(layout(root))
        assert found.people.authors(before, now, ("rtl/fifo.v",)) == ("Anna", "Bert")
        assert found.people.authors(now, now, ("rtl/fifo.v",)) == (), "nothing is uncommitted"
    project.write("rtl/fifo.v", "1\nTWO\nTHREE\nfour\nfive\nsix\n")
    assert Repository(layout(project.root)).people.authors(now, now, ("rtl/fifo.v",)) == ("Carl",)


def test_a_new_file_and_an_unknown_one_have_no_authors(project: Project) -> None:
    before = str(project.state.commit)
    project.commit("new", rtl__new_v="new")
    found = Repository(layout(project.root))
    assert found.people.authors(before, str(project.state.commit), ("rtl/new.v", "nowhere.v", "-L1,2", "a\nb")) == ()


def test_a_shallow_clone_and_a_missing_git_name_no_authors(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = str(project.state.commit)
    now = _as(project, "Anna", "fifo", "module x;")
    assert Repository(layout(project.root)).people.authors(before, now, ("rtl/fifo.v",)) == ("someone",)
    _as(project, "Anna", "fifo: more", "module y;")
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{project.root}", "shallow")
    assert Repository(layout(tmp_path / "shallow")).people.authors(before, now, ("rtl/fifo.v",)) == ()
    monkeypatch.setenv("PATH", str(tmp_path))
    found = Repository(layout(project.root))
    assert (found.people.authors(before, now, ("rtl/fifo.v",)), found.people.owners(now, ("rtl/fifo.v",))) == ((), ())


def test_the_owners_are_those_of_the_first_place_at_that_commit(project: Project) -> None:
    files = ("rtl/fifo.v", "tb/test.v")
    assert Repository(layout(project.root)).people.owners("HEAD", files) == ()
    project.commit("owners", **{"docs/CODEOWNERS": "* @docs", ".gitlab/CODEOWNERS": "* @never"})
    assert Repository(layout(project.root)).people.owners("HEAD", files) == ("@docs",)
    project.commit("owners", CODEOWNERS="/rtl/ @rtl\ntb/ @tb @rtl\n")
    found = Repository(layout(project.root / "rtl"))
    assert found.people.owners("HEAD", files) == ("@rtl", "@tb")
    assert found.people.owners("HEAD~", files) == ("@docs",)
    project.commit("owners", **{".github/CODEOWNERS": "* @hub\n"})
    assert Repository(layout(project.root)).people.owners("HEAD", files) == ("@hub",)


def test_gitlab_reads_the_file_by_its_own_rules(project: Project) -> None:
    project.commit("owners", CODEOWNERS="x/fifo.v @fifo", rtl__x__fifo_v="")
    assert Repository(layout(project.root)).people.owners("HEAD", ("rtl/x/fifo.v",)) == ()
    project.commit("ci", **{".gitlab-ci.yml": "x"})
    assert Repository(layout(project.root)).people.owners("HEAD", ("rtl/x/fifo.v",)) == ("@fifo",)


def test_a_huge_owners_file_or_a_folder_of_that_name_says_nothing(project: Project) -> None:
    project.commit("owners", CODEOWNERS="* @all\n" + "#\n" * 600_000)
    assert Repository(layout(project.root)).people.owners("HEAD", ("rtl/fifo.v",)) == ()
    (project.root / "CODEOWNERS").unlink()
    project.commit("owners", **{"CODEOWNERS/x": "* @all\n"})
    assert Repository(layout(project.root)).people.owners("HEAD", ("rtl/fifo.v",)) == ()


# What came with a failure


def test_a_failure_came_with_the_commits_since_the_pass(project: Project) -> None:
    passed = str(project.state.commit)
    project.commit("fifo: rework", rtl__fifo_v="module fifo2;")
    project.commit("tb: more", tb__test_v="module tb2;")
    found = Repository(layout(project.root)).came_with(passed, project.state, "fifo.v:12")
    assert found is not None
    assert (subjects(found), found.files) == (["tb: more", "fifo: rework"], ("rtl/fifo.v", "tb/test.v"))


def test_commits_of_a_branch_that_was_merged_are_named_without_the_merge(project: Project) -> None:
    passed = str(project.state.commit)
    git(project.root, "checkout", "-q", "-b", "topic")
    project.commit("fifo: rework", rtl__fifo_v="module fifo2;")
    git(project.root, "checkout", "-q", "main")
    project.commit("tb: more", tb__test_v="module tb2;")
    git(project.root, "merge", "-q", "--no-edit", "topic")
    found = Repository(layout(project.root)).came_with(passed, project.state)
    assert found is not None
    assert sorted(subjects(found)) == ["fifo: rework", "tb: more"]


def test_uncommitted_changes_came_with_it_too(project: Project) -> None:
    passed = str(project.state.commit)
    project.write("rtl/fifo.v", "module fifo3;")
    found = Repository(layout(project.root)).came_with(passed, project.state)
    assert found is not None
    assert (found.change, found.files, found.log_count) == ("uncommitted", ("rtl/fifo.v",), 0)
    project.commit("tb: more", tb__test_v="module tb2;", rtl__fifo_v="module fifo3;")
    project.write("rtl/fifo.v", "module fifo4;")
    found = Repository(layout(project.root)).came_with(passed, project.state)
    assert found is not None
    assert (found.files, found.log) == (("rtl/fifo.v",), ()), "what was edited is told, and no commit named"


def test_nothing_is_known_to_lie_between_what_is_not_of_one_line(project: Project) -> None:
    first = project.state
    project.commit("wiki", **{".agent__wiki__index.md": "x"})
    asked = Repository(layout(project.root))
    assert asked.came_with(str(first.commit), project.state) is None, "the sources are the same"
    assert asked.came_with(str(project.state.commit), project.state) is None
    assert asked.came_with(str(project.state.commit), first) is None, "the failure is older"
    assert asked.came_with("f" * 40, project.state) is None
    assert asked.came_with(str(first.commit), Vcs()) is None
    git(project.root, "checkout", "-q", "--orphan", "other")
    project.commit("anew", rtl__fifo_v="module anew;")
    assert Repository(layout(project.root)).came_with(str(first.commit), project.state) is None


FIFO = "module fifo;\n  wire a;\n  wire b;\n  assign full = {};\n  wire c;\n  wire d;\nendmodule\n"


@pytest.mark.parametrize(
    ("name", "now", "expected"),
    [
        ("regs", "module regs;", True),
        ("fifo", FIFO.format("count == 8").replace("fifo", "fifo16"), True),
        ("fifo", FIFO.format("count == 7").replace("wire d", "wire e"), False),
        ("fifo", FIFO.format("count == 9"), None),
        ("fifo", FIFO.format("count == 8").replace("wire b", "wire [1:0] b"), True),
        ("fifo", FIFO.format("count == 8").replace("  wire b", "  // of a fix\n  wire b"), True),
        ("fifo", FIFO.format("count == 7").replace("wire b", "wire [1:0] b"), None),
        ("fifo", FIFO.format("count == 8") + FIFO.format("count == 7").replace("fifo", "copy"), None),
    ],
    ids=[
        "another file",
        "another line",
        "undone",
        "the same line",
        "the line before",
        "a comment before",
        "undone, and the line before",
        "what it removed, elsewhere",
    ],
)
@pytest.mark.parametrize("commits", [True, False])
def test_whether_the_changes_of_a_fix_are_still_there(
    project: Project, name: str, now: str, expected: bool | None, commits: bool
) -> None:
    project.commit("break", rtl__fifo_v=FIFO.format("count == 7"))
    broken = str(project.state.commit)
    project.commit("mend", rtl__fifo_v=FIFO.format("count == 8"))
    fixed = str(project.state.commit)
    fix = Fix(text="mend", commits=(broken, fixed), files=("rtl/fifo.v",), file_count=1)
    project.write(f"rtl/{name}.v", now)
    if commits:
        project.commit("later")
    found = Repository(layout(project.root))
    assert found.keeps(fix, project.state) is expected
    assert found.keeps(fix, Vcs(commit=broken)) is None, "not the present state"
    assert found.keeps(replace(fix, file_count=2), project.state) is None, "not all files are known"
    assert found.keeps(replace(fix, commits=None), project.state) is None


# Bounds


def test_what_git_says_is_redacted(project: Project) -> None:
    before = project.state
    secret = "ghp_" + "a" * 30
    project.commit(f"fifo:\x1b[31m use {secret} " + "long " * 100, rtl__fifo_v="x", **{f"tb__{secret}_v": "y"})
    found = project.since(before)
    shown = repr(replace(found, all_files=()))  # these names are compared with git's and do not leave this process
    assert secret not in shown
    assert "\x1b" not in shown
    assert len(found.log[0]) < 200


def test_a_slow_git_does_not_hold_up_the_run(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project.state
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);")
    now = project.state
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    asked = tmp_path / "asked"
    slow.write_text(f"#!/bin/sh\necho >> '{asked}'\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(command, "_PAST_TIMEOUT_S", 0.5)
    found = Repository(layout(project.root))
    assert [found.difference(before, now).change, found.difference(before, now, "again").change] == ["commit"] * 2
    # The first call uses up the time of all; on a loaded machine it may not even have started.
    assert not asked.exists() or asked.read_text() == "\n"


def test_the_users_settings_of_git_change_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project.state
    project.write("rtl/fifo.v", "edited")
    edited = project.state
    settings = {
        "diff.external": "/bin/false",
        "diff.noprefix": "true",
        "color.ui": "always",
        "log.showSignature": "true",
        "core.quotePath": "true",
        "diff.renames": "copies",
        "format.pretty": "full",
    }
    for number, (key, value) in enumerate(settings.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(settings)))
    assert project.state == edited
    project.commit("fifo: reset", rtl__fifo_v="module fifo(input rst);", tb__größe_v="")
    found = project.since(before)
    assert (subjects(found), found.files) == (["fifo: reset"], ("rtl/fifo.v", "tb/größe.v"))
