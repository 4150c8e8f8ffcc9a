"""Loading: precedence, a project's own patterns, the cache, and errors that name the place."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from pytest_dvwiki.patterns import cache, compiled
from pytest_dvwiki.patterns import registry as module
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.patterns.schema import Pattern, PatternError

OWN = """
- id: {id}
  error_class: sim_error
  failure_subtype: hang
  tier: cause
  match: ["{match}"]
  description: Ours.
  fix: Call the team of {{name}}.
"""


def write(folder: Path, text: str, name: str = "own.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_projects_pattern_goes_before_the_built_in_ones(tmp_path: Path) -> None:
    path = write(tmp_path, OWN.format(id="own.syntax", match="syntax error"))
    for given in (path, tmp_path):
        hit = Matcher(load_registry([given])).match("dut.sv:3: syntax error")
        assert hit is not None
        assert hit.pattern.id == "own.syntax"


def test_a_projects_pattern_replaces_the_built_in_one_of_its_id(tmp_path: Path) -> None:
    registry = load_registry([write(tmp_path, OWN.format(id="icarus.syntax", match="odd text"))])
    assert len(registry) == len(load_registry())
    pattern = registry.get("icarus.syntax")
    assert pattern is not None
    assert pattern.match == ("odd text",)


def test_the_advice_of_a_projects_pattern_takes_a_time_that_grows_with_the_message_alone(tmp_path: Path) -> None:
    text = OWN.format(id="own.odd", match="odd (?P<name>a+)+$").replace('$"]', '$", "odd .*never!"]')
    registry = load_registry([write(tmp_path, text)])
    message = f"odd {'a' * 4000} never!"
    hit = Matcher(registry).match(message)
    assert hit is not None
    # `re` would never finish: there are 2^4000 ways to split the letters.
    assert registry.advice(hit.pattern.id, "hang", message) == "Call the team of the name."
    assert registry.advice("own.odd", "hang", "odd aaa") == "Call the team of aaa."


def test_a_projects_pattern_may_bring_a_subtype_which_it_describes_itself(tmp_path: Path) -> None:
    text = OWN.format(id="own.link", match="LINK: (?P<name>lane \\\\d+) lost").replace("hang", "link_loss")
    registry = load_registry([write(tmp_path, text + text.replace("own.link", "own.later").replace("Ours", "Theirs"))])
    assert registry.subtypes.keys() - load_registry().subtypes.keys() == {"link_loss"}
    brought = registry.subtypes["link_loss"]
    assert (brought.title, brought.description, brought.fix) == ("Link loss", "Ours.", "Call the team of the name.")
    hit = Matcher(registry).match("LINK: lane 3 lost its lock")
    assert hit is not None
    assert (hit.pattern.error_class, hit.pattern.failure_subtype) == ("sim_error", "link_loss")


@pytest.mark.parametrize("name", ["axi_timeout", "bus_error", "clock_domain", "fifo_overflow", "ecc"])
def test_names_of_one_word_in_common_are_no_mistakes(tmp_path: Path, name: str) -> None:
    load_registry([write(tmp_path, OWN.format(id="own.odd", match="odd text").replace("hang", name))])


def test_a_pattern_may_be_given_as_an_object() -> None:
    own = Pattern(
        id="own.odd",
        tier="cause",
        match=("odd text",),
        description="Odd.",
        fix="Ask.",
        error_class="sim_error",
        failure_subtype="hang",
    )
    assert load_registry([own]).get("own.odd") == own


def test_the_hash_tells_the_patterns_apart_and_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path, OWN.format(id="own.odd", match="odd text"))
    assert load_registry().hash == load_registry().hash
    assert load_registry([path]).hash == load_registry([path]).hash != load_registry().hash


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            OWN.format(id="own.odd", match="a(?=b)ccc"),
            r"own.yaml:\d: pattern own.odd: field match: .*look-around.* at 1 .*; match ",
        ),
        (
            OWN.format(id="own.odd", match="odd").replace("hang", "hung"),
            "own.odd: field failure_subtype: 'hung' is very similar to 'hang'; use that, or ",
        ),
        (
            OWN.format(id="own.odd", match="odd").replace("hang", "scorebord_fail"),
            "own.odd: field failure_subtype: 'scorebord_fail' is very similar to 'scoreboard_fail'; ",
        ),
        (OWN.format(id="own.odd", match="odd").replace("hang", "../x"), "own.odd: field failure_subtype: '../x' is no"),
        (OWN.format(id="own.odd", match="odd").replace("sim_error", "sim"), "own.odd: field error_class: 'sim'"),
        (OWN.format(id="own.odd", match="odd").replace("tier: cause", "tier: root"), "own.odd: field tier"),
        (
            OWN.format(id="own.odd", match="odd").replace("  fix:", "  fixx:"),
            r"own\.yaml:\d+: pattern own\.odd: field fixx: unknown field; the nearest is 'fix'",
        ),
        (OWN.format(id="own.odd", match="odd").replace("  description: Ours.\n", ""), "own.odd: .*description"),
        ("- tier: cause\n", r"pattern no\. 1: .*"),
        ("id: x\n", "is a list"),
        ("- {", r"own\.yaml:2: .*; correct this line"),
        (OWN.format(id="own.odd", match="odd") * 2, "field id: is also in"),
        (OWN.format(id="own.odd", match="odd").replace("cause", "benign"), "field tier: a benign pattern"),
    ],
)
def test_a_mistake_names_file_pattern_and_field(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(PatternError, match=place):
        load_registry([write(tmp_path, text)])


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(PatternError, match=r"absent\.yaml: cannot be read"):
        load_registry([tmp_path / "absent.yaml"])
    (tmp_path / "latin.yaml").write_bytes(b"- id: \xff")
    with pytest.raises(PatternError, match=r"latin\.yaml: is not UTF-8"):
        load_registry([tmp_path / "latin.yaml"])


def test_the_compiled_registry_is_cached_and_a_damaged_cache_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DVWIKI_CACHE_DIR", str(tmp_path / "cache"))
    module.builtin.cache_clear()
    wanted = load_registry().hash
    (cached,) = (tmp_path / "cache").glob("registry-*.json")
    content = cached.read_bytes()
    cached.write_bytes(content[:100])
    module.builtin.cache_clear()
    assert load_registry().hash == wanted
    assert cached.read_bytes() == content
    module.builtin.cache_clear()
    assert load_registry().hash == wanted


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("DVWIKI_CACHE_DIR", str(tmp_path / "file" / "cache"))
    module.builtin.cache_clear()
    assert len(load_registry()) > 100


def test_a_mistake_costs_the_run_that_one_pattern_only(tmp_path: Path) -> None:
    write(tmp_path, OWN.format(id="own.good", match="good text") + OWN.format(id="own.bad", match="a(?=b)ccc"))
    write(tmp_path, "- {", name="torn.yaml")
    told: list[str] = []
    registry = load_registry([tmp_path, tmp_path / "absent.yaml"], problem=lambda error: told.append(str(error)))
    assert len(registry) == len(load_registry()) + 1
    assert registry.get("own.good") is not None
    assert [line.removeprefix(str(tmp_path)).partition(":")[0] for line in told] == [
        "/own.yaml",
        "/torn.yaml",
        "/absent.yaml",
    ]
    assert "pattern own.bad: field match" in told[0]


def test_a_damaged_built_in_file_is_told_as_such_and_costs_its_own_patterns_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = len(load_registry())
    monkeypatch.setenv("DVWIKI_CACHE_DIR", str(tmp_path / "cache"))
    texts = module._builtin_texts() | {"icarus": "- {"}
    monkeypatch.setattr(module, "_builtin_texts", lambda: texts)
    module.builtin.cache_clear()
    try:
        with pytest.raises(PatternError, match=r"^builtin/icarus\.yaml:\d+: .*: install the package again"):
            load_registry()
        told: list[PatternError] = []
        registry = load_registry(problem=told.append)
        assert len(told) == 1
        assert 100 < len(registry) < whole
        assert registry.get("icarus.fatal") is None
        assert not (tmp_path / "cache").exists()  # damaged files are not cached
    finally:
        module.builtin.cache_clear()


def test_of_two_layers_the_first_replaces_and_the_registry_knows_what(tmp_path: Path) -> None:
    project, hook = tmp_path / "project", tmp_path / "hook"
    for folder in (project, hook):
        folder.mkdir()
    write(project, OWN.format(id="own.odd", match="from the project") + OWN.format(id="icarus.fatal", match="ours"))
    write(hook, OWN.format(id="own.odd", match="from a hook") + OWN.format(id="hook.odd", match="of a hook"))
    registry = load_registry([project, hook])
    own = registry.get("own.odd")
    assert own is not None
    assert own.match == ("from the project",)
    assert registry.replaced == {"own.odd": str(hook / "own.yaml"), "icarus.fatal": "builtin/icarus.yaml"}
    assert registry.source("hook.odd") == str(hook / "own.yaml")
    assert registry.source("icarus.fatal") == str(project / "own.yaml")
    assert registry.source("ghdl.bound") == "builtin/ghdl.yaml"


def test_a_registry_is_the_same_wherever_its_files_stand(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, OWN.format(id="own.odd", match="odd text"))
    assert load_registry([tmp_path / "here"]).hash == load_registry([tmp_path / "there"]).hash


def test_what_the_wheel_brings_is_what_the_yaml_files_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = compiled.encode(module.compile_builtin())
    assert compiled.decode(made) == module.builtin()
    (tmp_path / compiled.FILE).write_bytes(made)
    monkeypatch.setattr(compiled, "FOLDER", tmp_path)
    shipped = compiled.load(dict, module.compile_builtin)
    assert shipped == module.builtin()


def test_a_checkout_has_no_compiled_registry_that_could_be_out_of_date() -> None:
    assert not (compiled.FOLDER / compiled.FILE).exists()


def test_caches_stand_in_the_wiki_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DVWIKI_CACHE_DIR", raising=False)
    monkeypatch.setattr(cache, "_wikis", [])
    cache.prefer(tmp_path / "absent")
    assert not cache._wikis
    cache.prefer(tmp_path)
    cache.write("a.json", b"{}")
    assert (tmp_path / ".cache" / "a.json").read_bytes() == b"{}"
    monkeypatch.setenv("DVWIKI_CACHE_DIR", str(tmp_path / "named"))
    assert cache.read("a.json") is None


def test_what_a_wiki_does_not_have_yet_is_read_from_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DVWIKI_CACHE_DIR", raising=False)
    monkeypatch.setattr(cache, "_wikis", [])
    monkeypatch.setattr(cache, "_of_user", lambda: tmp_path / "user")
    cache.write("a.json", b"of a run without a wiki")
    cache.prefer(tmp_path)
    assert cache.read("a.json") == b"of a run without a wiki"
    cache.write("a.json", b"of the wiki")
    assert cache.read("a.json") == b"of the wiki"


def test_of_outdated_caches_the_newest_few_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVWIKI_CACHE_DIR", str(tmp_path))
    cache.write("other-1.json", b"x")
    for number in range(20):
        cache.write(f"some-{number}.json", b"x")
        os.utime(tmp_path / f"some-{number}.json", (number, number))
    assert len(list(tmp_path.glob("some-*"))) <= 9
    assert cache.read("some-19.json") == b"x"
    assert cache.read("other-1.json") == b"x"


def test_without_a_wiki_they_stand_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DVWIKI_CACHE_DIR", raising=False)
    monkeypatch.setattr(cache, "_wikis", [])
    for home in ("", "/somewhere/caches"):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        assert cache.folder() == Path(platformdirs.user_cache_dir("pytest-dvwiki", appauthor=False))
