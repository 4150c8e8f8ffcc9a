"""One table has every setting; an error names its place and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.settings import (
    OPTIONS,
    Settings,
    SettingsError,
    ip_type_of,
    is_switched_on_by_project,
    read_project_file,
    resolve,
)

if TYPE_CHECKING:
    from pathlib import Path


def write_project(root: Path, text: str) -> None:
    (root / ".agent").mkdir(exist_ok=True)
    (root / ".agent" / "project.yaml").write_text(text, encoding="utf-8")


def test_settings_without_sources_are_the_defaults_of_the_table(tmp_path: Path) -> None:
    settings = resolve(tmp_path, environ={})
    assert settings == Settings(layout=settings.layout)


def test_defaults_are_those_of_the_specification(tmp_path: Path) -> None:
    settings = resolve(tmp_path, environ={})
    assert settings.layout.wiki == tmp_path / ".agent" / "wiki"
    assert (settings.enabled, settings.auto_ingest, settings.search_backend) == (False, True, "bm25")
    assert (settings.max_context_tokens, settings.lint_on_startup, settings.lint_interval_sessions) == (2000, True, 10)
    assert settings.bug_context_tokens == 500


@pytest.mark.parametrize("sources", range(4))
def test_command_line_beats_environment_beats_configuration_beats_project_file(tmp_path: Path, sources: int) -> None:
    write_project(tmp_path, "wiki:\n  task: from_project\n")
    given = {
        "ini": {"task": "from_ini"},
        "environ": {"DVWIKI_TASK": "from_environment"},
        "command_line": {"task": "from_command_line"},
    }
    names = list(given)[:sources]
    settings = resolve(tmp_path, **{"environ": {}, **{name: given[name] for name in names}})
    expected = ["from_project", "from_ini", "from_environment", "from_command_line"][sources]
    assert settings.task == expected


@pytest.mark.parametrize(
    ("sources", "archive"),
    [
        ({}, "yes"),
        ({"environ": {"DVWIKI_AUTO_INGEST": "no"}}, "no"),
        ({"ini": {"auto_ingest": False}}, "no"),
        ({"command_line": {"archive": "record"}, "ini": {"auto_ingest": True}}, "record"),
        ({"command_line": {"archive": "yes"}, "ini": {"auto_ingest": False}}, "yes"),
        ({"environ": {"DVWIKI_ARCHIVE": "False"}}, "no"),
    ],
)
def test_what_is_written_has_a_name_in_the_specification(
    tmp_path: Path, sources: dict[str, dict[str, object]], archive: str
) -> None:
    settings = resolve(tmp_path, **{"environ": {}, **sources})  # type: ignore[arg-type]
    assert (settings.archive, settings.auto_ingest) == (archive, archive == "yes")


@pytest.mark.parametrize("word", ["yes", "on", "True", "1"])
def test_words_for_true(tmp_path: Path, word: str) -> None:
    assert resolve(tmp_path, environ={"DVWIKI_ENABLED": word}).enabled


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("DVWIKI_ENABLED", "perhaps", "DVWIKI_ENABLED: expected true or false, got 'perhaps'"),
        ("DVWIKI_COMMIT", "1f0c2aa", "DVWIKI_COMMIT: expected a branch, got 1f0c2aa, which looks like a commit"),
        ("DVWIKI_REVISION", "a b", "DVWIKI_REVISION: expected the name of a revision, such as 1234567, got 'a b'"),
        ("DVWIKI_ARCHIVE", "pages", "DVWIKI_ARCHIVE: expected no, record or yes, got 'pages'"),
        ("DVWIKI_LOCK_TIMEOUT", "soon", "DVWIKI_LOCK_TIMEOUT: expected a number, got 'soon'"),
        ("DVWIKI_MAX_CONTEXT_TOKENS", "-1", "expected a number from 0 to"),
        *(
            ("DVWIKI_LOCK_TIMEOUT", word, f"expected a number from 0 to 1000000000, got '{word}'")
            for word in ("nan", "inf", "1e99")
        ),
        ("DVWIKI_SEARCH_BACKEND", "qmd", "expected one of bm25, keyword, none, got 'qmd'"),
    ],
)
def test_a_bad_value_names_where_it_stands_and_what_may_stand_there(
    tmp_path: Path, variable: str, value: str, said: str
) -> None:
    with pytest.raises(SettingsError, match=said.replace("(", r"\(")):
        resolve(tmp_path, environ={variable: value})


def test_an_unknown_key_names_the_nearest_known_one(tmp_path: Path) -> None:
    write_project(tmp_path, "wiki:\n  max_context_token: 5\n")
    with pytest.raises(SettingsError, match=r"project\.yaml:2: wiki\.max_context_token: .*'max_context_tokens'"):
        resolve(tmp_path, environ={})


def test_an_unknown_key_like_none_gets_no_far_fetched_advice(tmp_path: Path) -> None:
    write_project(tmp_path, "wiki:\n  colour: red\n")
    with pytest.raises(SettingsError) as said:
        resolve(tmp_path, environ={})
    assert "nearest" not in str(said.value)
    assert str(said.value).endswith(
        f"wiki.colour: no such setting; choose from {', '.join(sorted(option.name for option in OPTIONS))}"
    )


def test_other_blocks_of_the_project_file_are_somebody_elses(tmp_path: Path) -> None:
    write_project(tmp_path, "composition:\n  simulator: xcelium\n")
    assert read_project_file(tmp_path / ".agent" / "project.yaml") == {}


def test_a_project_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    write_project(tmp_path, "wiki: [\n")
    with pytest.raises(SettingsError, match=r"project\.yaml:2: did not find .*; correct this line"):
        resolve(tmp_path, environ={})


def test_shares_of_a_prompt_fit_into_the_whole(tmp_path: Path) -> None:
    settings = resolve(tmp_path, environ={}, ini={"max_context_tokens": 1000, "bug_context_tokens": 700})
    shares = [settings.pattern_context_tokens, settings.coverage_context_tokens, settings.summary_context_tokens]
    assert settings.bug_context_tokens == 700
    assert shares == [100, 100, 100]


def test_shares_larger_than_the_whole_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="max_context_tokens is 100, less than the sum of its shares"):
        resolve(tmp_path, environ={}, ini={"max_context_tokens": 100, "bug_context_tokens": 700})


@pytest.mark.parametrize("folder", [".", "..", "/"])
def test_the_wiki_is_never_the_project_itself(tmp_path: Path, folder: str) -> None:
    with pytest.raises(SettingsError, match="needs a folder of its own"):
        resolve(tmp_path, environ={"DVWIKI_WIKI_DIR": folder})


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("wiki:\n  enabled: true\n", True),
        ("# us\nwiki:  # the wiki\n\n  # see below\n  task: x\n  enabled: yes  # for all\n", True),
        ("wiki:\n  enabled: false\n", False),
        ("wiki:\n  task: x\nother:\n  enabled: true\n", False),
        ("other:\n  enabled: true\n", False),
        ("", False),
        ("wiki: {enabled: true}\n", True),
        ("wiki: {enabled: false}\n", False),
        ("'wiki':\n  'enabled' : \"true\"  # for all\n", True),
        ("wiki:\n  coverage: a.xml b.xml\n  enabled: 1\n", True),
        ("wiki:\r\n  enabled: true\r\n", True),
        ("wiki:\n  enabled: true", True),
        ("\ufeffwiki:\n  enabled: true\n", True),
        ("wiki:", False),
        ("wiki:\n  tsak: x\n  enabled: true\n", True),  # its reader reports the error
    ],
)
def test_the_project_file_switches_on(tmp_path: Path, text: str, *, on: bool) -> None:
    write_project(tmp_path, text)
    assert is_switched_on_by_project(tmp_path) is on


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nwiki:\n  task: x\n  enabeld: true\n", ":4: wiki.enabeld: no such setting; the nearest is 'enabled'"),
        ("wiki: {enabeld: true}\n", ":1: wiki.enabeld: no such setting; the nearest is 'enabled'"),
        ("wiki:\n  enabled: perhaps\n", ": wiki.enabled: expected true or false, got 'perhaps'"),
        ("wiki:\n- enabled\n", ": wiki: expected keys with values, got ['enabled']"),
        ("wiki: [\n", ":2: did not find expected node content; correct this line"),
    ],
)
def test_a_project_file_that_may_mean_to_switch_on_is_no_silent_no(tmp_path: Path, text: str, said: str) -> None:
    write_project(tmp_path, text)
    with pytest.raises(SettingsError) as error:
        is_switched_on_by_project(tmp_path)
    assert str(error.value).startswith(f"{tmp_path / '.agent' / 'project.yaml'}{said}")


def test_the_kinds_of_design_come_from_the_composition_of_the_project(tmp_path: Path) -> None:
    write_project(tmp_path, "composition:\n  team: x\n  ip_types: [axi, ddr, 3]\n")
    assert resolve(tmp_path, environ={}).ip_types == ("axi", "ddr")
    assert resolve(tmp_path, command_line={"ip_type": "pcie"}, environ={}).ip_types == ("pcie",)
    assert ip_type_of("tests/test_fifo.py::test_x", ("axi",)) == "axi"
    assert ip_type_of("tests/DDR/test_x.py::test_axis", ("axi", "ddr")) == "ddr"
    assert ip_type_of("tests/test_axi_ddr.py::test_x", ("axi", "ddr")) is None
    write_project(tmp_path, "composition: [1]\n")
    assert resolve(tmp_path, environ={}).ip_types == ()
