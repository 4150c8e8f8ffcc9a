"""Coverage reports of the libraries are read bin by bin; the error for an unusable one names place and remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.files.coverage import CoverageError, is_coverage, read_coverage, read_reports

from ...coverage_reports import EXPORT, UCIS, needs, run, sampled

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import CoverBin

SAMPLES = (("push", 0), ("push", 1), ("pop", 1))
XML = """<top abs_name="top" size="2"><g abs_name="top.g"><p abs_name="top.g.p" at_least="{}" weight="{}" size="2">
<bin0 bin="a" hits="{}" abs_name="top.g.p.bin0"/><bin1 bin="b" hits="0" abs_name="top.g.p.bin1"/></p></g></top>"""
UCIS_HEAD = '<u:UCIS xmlns:u="x"><u:instanceCoverages name="tb"><u:covergroupCoverage><u:cgInstance name="cg">'


def told(bins: list[CoverBin]) -> dict[str, tuple[int, int, int]]:
    return {f"{one.covergroup}:{one.bin}": (one.hits, one.goal, one.weight) for one in bins}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    run(folder, sampled(*SAMPLES))
    return folder


@needs("cocotb_coverage")
@pytest.mark.parametrize("name", ["report.xml", "report.yml"])
def test_points_crosses_and_checks_of_cocotb_coverage(exported: Path, name: str) -> None:
    assert told(read_coverage(exported / name)) == {
        "fifo.operation:push": (2, 1, 1),
        "fifo.operation:pop": (1, 1, 1),
        "fifo.operation:it's": (0, 1, 1),
        "fifo.level:0": (1, 2, 3),
        "fifo.level:1": (2, 2, 3),
        "fifo.level:2": (0, 2, 3),
        "fifo.odd:None": (0, 1, 1),
        "fifo.odd:True": (2, 1, 1),
        "fifo.odd:1.5": (0, 1, 1),
        "fifo.odd:1, 2": (0, 1, 1),
        "fifo.odd:a b": (0, 1, 1),
        "fifo.cross:push, 0": (1, 1, 1),
        "fifo.cross:push, 1": (1, 1, 1),
        "fifo.cross:push, 2": (0, 1, 1),
        "fifo.cross:pop, 1": (1, 1, 1),
        "fifo.cross:pop, 2": (0, 1, 1),
        "fifo.cross:it's, 0": (0, 1, 1),
        "fifo.cross:it's, 1": (0, 1, 1),
        "fifo.cross:it's, 2": (0, 1, 1),
        "fifo.legal:PASS": (3, 1, 1),
    }


@needs("cocotb_coverage")
def test_the_root_top_is_no_part_of_a_name_in_any_format(tmp_path: Path) -> None:
    run(tmp_path, sampled(*SAMPLES, top="top.fifo"))
    for name in ("report.xml", "report.yml"):
        assert {one.covergroup.partition(".")[0] for one in read_coverage(tmp_path / name)} == {"fifo"}


@needs("cocotb_coverage")
def test_a_check_that_failed_once_is_not_covered(tmp_path: Path) -> None:
    run(tmp_path, sampled(*SAMPLES, ("pop", 9)))
    for name in ("report.xml", "report.yml"):
        bins = {one.covergroup: one for one in read_coverage(tmp_path / name) if one.covergroup == "fifo.legal"}
        assert not bins["fifo.legal"].filled


@needs("cocotb_coverage")
def test_a_point_may_have_the_bins_of_a_check(tmp_path: Path) -> None:
    script = f"""
from cocotb_coverage.coverage import CoverPoint, coverage_db
CoverPoint("t.verdict", vname="v", bins=["PASS", "FAIL"])(lambda v: None)("PASS")
{EXPORT}"""
    run(tmp_path, script)
    for name in ("report.xml", "report.yml"):
        assert told(read_coverage(tmp_path / name)) == {"t.verdict:PASS": (1, 1, 1), "t.verdict:FAIL": (0, 1, 1)}


@needs("cocotb_coverage")
def test_what_cocotb_coverage_has_merged_is_read_too(exported: Path, tmp_path: Path) -> None:
    merge = "from cocotb_coverage.coverage import merge_coverage\nmerge_coverage(print, {!r}, {!r}, {!r})"
    run(tmp_path, merge.format("both.xml", str(exported / "report.xml"), str(exported / "report.xml")))
    once, twice = told(read_coverage(exported / "report.xml")), told(read_coverage(tmp_path / "both.xml"))
    assert twice == {name: (2 * hits, goal, weight) for name, (hits, goal, weight) in once.items()}


@needs("cocotb_coverage")
def test_bins_that_yaml_can_only_write_as_objects_are_refused_with_a_remedy(tmp_path: Path) -> None:
    script = f"""
import enum
from cocotb_coverage.coverage import CoverPoint, coverage_db
class Kind(enum.Enum):
    READ = 0
CoverPoint("t.kind", vname="v", bins=[Kind.READ])(lambda v: None)
{EXPORT}"""
    run(tmp_path, script)
    assert told(read_coverage(tmp_path / "report.xml")) == {"t.kind:Kind.READ": (0, 1, 1)}
    with pytest.raises(CoverageError, match=r"report\.yml: cannot be read as plain YAML: line \d+: .*; label the bins"):
        read_coverage(tmp_path / "report.yml")


@needs("ucis")
def test_points_and_crosses_of_ucis(tmp_path: Path) -> None:
    run(tmp_path, UCIS)
    assert told(read_coverage(tmp_path / "report.xml")) == {
        "cg.level:empty": (5, 2, 2),
        "cg.level:full": (1, 2, 2),
        "cg.cross:<full,x>": (0, 1, 1),
        "tb.u_fifo.one.p:b": (1, 1, 1),
        "tb.u_fifo.two.p:b": (0, 1, 1),
    }


def test_ucis_with_a_prefix_and_a_module_and_excluded_bins(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        f"""{UCIS_HEAD}<u:options at_least="3"/><u:cgId cgName="cg" moduleName="fifo_pkg"/>
        <u:coverpoint name="p"><u:coverpointBin name="a" type="bins">
        <u:range from="0" to="1"><u:contents coverageCount="2"/></u:range>
        <u:range from="4" to="5"><u:contents coverageCount="1"/></u:range></u:coverpointBin>
        <u:coverpointBin name="b" type="bins" excluded="true"><u:sequence><u:contents coverageCount="0"/>
        </u:sequence></u:coverpointBin></u:coverpoint>
        </u:cgInstance></u:covergroupCoverage></u:instanceCoverages></u:UCIS>"""
    )
    assert told(read_coverage(report)) == {"fifo_pkg.cg.p:a": (2, 3, 1)}


def test_reports_of_one_run_are_added_up_and_a_broken_one_is_named(tmp_path: Path) -> None:
    for name, hits in (("one.xml", "1"), ("two.xml", "2"), ("odd.xml", "many")):
        (tmp_path / name).write_text(XML.format(1, 1, hits))
    found = read_reports((f"out/{path.name}", path) for path in sorted(tmp_path.iterdir()))
    assert told(list(found.bins)) == {"g.p:a": (3, 1, 1), "g.p:b": (0, 1, 1)}
    assert found.problems == ("out/odd.xml: line 2: the hits of 'a' is 'many', not a number; export the report again",)


def test_a_point_of_no_weight_counts_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(XML.format(1, 0, 1))
    assert read_coverage(tmp_path / "r.xml") == []


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("r.xml", XML.format(1, 1, 1)[:150], "not well-formed XML: .*: line 2"),
        ("r.xml", '<!DOCTYPE a [<!ENTITY b "c">]><top abs_name="t">&b;</top>', "declares the entity 'b'"),
        ("r.xml", '<coverage line-rate="1"/>', "line 1: not a coverage report: its root is <coverage>"),
        ("r.xml", XML.format("often", 1, 1), "line 2: at_least is 'often', not a number; export the report again"),
        ("r.xml", f'{UCIS_HEAD}<c:coverpoint name="p"><c:coverpointBin name="a">', "line 1"),
        ("r.xml", "<a>" * 80, "nested deeper than 64|not a coverage report"),
        ("r.yml", "t.p:\n  cover_percentage: 1\n  bins:_hits: 3\n", "t.p: bins:_hits is 3, not a list of bins"),
        ("r.yml", "t.p:\n  cover_percentage: 1\n  bins:_hits: {a: x}\n", "t.p: the hits of 'a' is 'x', not a number"),
        ("r.yml", "t.p:\n  cover_percentage: [\n", "cannot be read as plain YAML: line 3"),
        ("r.yml", "- a\n", "not a coverage report"),
        ("r.yml", "coverage:\n  covergroups:\n  - name: cg\n", "export UCIS XML from other tools"),
        ("r.yml", "t: !!python/object/apply:os.system ['x']\n", "cannot be read as plain YAML: line 1"),
        ("gone.xml", None, r"cannot be read \(no such file or directory\); check"),
        ("gone.yml", None, r"cannot be read \(no such file or directory\); check"),
    ],
)
def test_a_report_that_cannot_be_used_names_file_place_and_remedy(
    tmp_path: Path, name: str, text: str | None, reason: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(CoverageError, match=reason) as caught:
        read_coverage(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in caught.value.reason


def test_a_ucis_bin_without_a_count_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(
        '<UCIS><cgInstance name="cg"><coverpoint name="p"><coverpointBin name="a"/></coverpoint></cgInstance></UCIS>'
    )
    with pytest.raises(CoverageError, match="the bin 'a' has no coverageCount"):
        read_coverage(tmp_path / "r.xml")


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.xml", b'<?xml version="1.0"?><!-- x --><top size="3" coverage="1" abs_name="top">', True),
        ("a.xml", b'<x:UCIS xmlns:x="y">', True),
        ("a.xml", b'<coverage version="7.1" line-rate="0.9">', False),
        ("a.xml", b'<testsuites><testsuite name="UCIS"><p abs_name="x">', False),
        ("a.xml", b'<a b="c"><d abs_name="e">', False),
        ("a.yml", b"top:\n  cover_percentage: 3.0\n", True),
        ("a.yaml", b"cover_percentage: 3.0\n", False),
        ("a.log", b"  cover_percentage: 3.0\n", False),
        ("a.xml", b"", False),
    ],
)
def test_a_report_is_told_by_its_beginning(name: str, head: bytes, expected: bool) -> None:
    assert is_coverage(name, head) is expected


def test_a_name_that_is_long_or_empty_stays_one_of_its_own(tmp_path: Path) -> None:
    labels = ["", "x" * 1000 + "1", "x" * 1000 + "2", "a\nb"]
    bins = "".join(f'<b bin="{label.replace(chr(10), "&#10;")}" hits="0"/>' for label in labels)
    (tmp_path / "r.xml").write_text(f'<top abs_name="top"><p abs_name="t.p">{bins}</p></top>')
    names = [one.bin for one in read_coverage(tmp_path / "r.xml")]
    assert names[0] == '""'
    assert names[3] == "a b"
    assert len(set(names)) == 4
    assert max(map(len, names)) <= 160


@needs("cocotb_coverage")
def test_what_was_exported_in_both_formats_counts_once(exported: Path) -> None:
    found = read_reports((path.name, path) for path in sorted(exported.iterdir()))
    assert told(list(found.bins)) == told(read_coverage(exported / "report.xml"))
