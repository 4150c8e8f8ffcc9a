"""The table of options, and the paths of a project.

Options can be set on the command line, in the environment, in pytest's configuration and in the block `wiki:` of
`.agent/project.yaml`. The first of these sources with a value takes precedence. The reference page is also made from
the table.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_dvwiki import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from _typeshed import DataclassInstance

Kind = Literal["bool", "int", "float", "string", "archive", "branch"]
Archive = Literal["no", "record", "yes"]
DEFAULT_WIKI_DIR = ".agent/wiki"
PROJECT_FILE = ".agent/project.yaml"
_HIGHEST = 1_000_000_000
"""Maximum value of a numeric setting."""
GATES = ("none", "unwaived", "new")
_TRUE = frozenset({"1", "yes", "y", "on", "true"})
_FALSE = frozenset({"0", "no", "n", "off", "false"})
_BLOCK = re.compile(r"^['\"]?wiki['\"]?[ \t]*:", re.MULTILINE)
_NO_WORD = re.compile(r"[^a-z0-9]+")
_REVISION = re.compile(r"@?\w[\w.:/+-]{0,99}")
_NO_KEY = r"[ \t]*(?:#.*)?"
_KEY = r"[ \t]+([a-z_]+):[ \t]+([\w.*/-]+)(?:[ \t]+#.*)?[ \t]*"
_PLAIN_KEY = re.compile(rf"^{_KEY}$", re.MULTILINE)
_PLAIN_BLOCK = re.compile(rf"^wiki:{_NO_KEY}\n((?:{_KEY}\n|{_NO_KEY}\n)*)(?=[^\s-]|\Z)", re.MULTILINE)
"""Matches the block `wiki:` if each line is blank, a comment, or a key with a plain word."""


class SettingsError(reading.UserError):
    """An invalid setting. The message says where it was set and which values are allowed."""


class ProjectFileError(SettingsError):
    """An invalid project.yaml. It disables the plugin but does not stop the run, because any branch can contain one."""


@dataclass(frozen=True)
class Layout:
    """The paths of a project. Records, journals, patterns and waivers are in the parent folder of `wiki`."""

    root: Path
    """Absolute path of the project. Paths in records are relative to it."""
    wiki: Path
    """Absolute path of the wiki, by default `.agent/wiki` in the root."""
    lock_timeout: float = 30.0
    """Seconds to wait for another process that writes to the wiki."""

    @property
    def agent(self) -> Path:
        """Return the folder with the wiki, the records and the journal."""
        return self.wiki.parent

    @property
    def tasks(self) -> Path:
        """Return the folder of the records."""
        return self.agent / "tasks"

    @property
    def journals(self) -> Path:
        """Return the folder for the journals of runs that are not archived yet. It is ignored by git."""
        return self.agent / "journal"

    @property
    def journal(self) -> Path:
        """Return the folder of this project's journals: `journals`, or a subfolder if projects may share `journals`."""
        return self.journals if self.is_inside else self.journals / self.key

    @property
    def is_inside(self) -> bool:
        """Return whether the folder `agent` is inside the root, after resolving symlinks."""
        return Path(os.path.realpath(self.agent)).is_relative_to(os.path.realpath(self.root))

    @property
    def key(self) -> str:
        """Return 12 hex digits that identify this project in a shared folder of journals.

        The path alone is not enough: containers that share a temporary folder can have different projects at the same
        path.
        """
        import hashlib  # noqa: PLC0415  # most calls of pytest and of the command line do not need it

        root = os.path.realpath(self.root)
        status = os.stat(root)  # noqa: PTH116  # the path is a text
        parts = (root, os.path.realpath(self.wiki), str(status.st_dev), str(status.st_ino))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:12]

    @property
    def patterns(self) -> Path:
        """Return the folder of the project's patterns."""
        return self.agent / "patterns"

    @property
    def waivers(self) -> Path:
        """Return the file of waivers."""
        return self.agent / "waivers.yaml"


@dataclass(frozen=True)
class Option:
    """One row of the table of options."""

    name: str
    """Field of `Settings` and key in project.yaml; `dvwiki_{name}` in pytest's configuration."""
    kind: Kind
    default: object
    help: str
    flag: str | None = None
    """Command-line flag. Without a metavar, a flag of kind bool is a switch."""
    metavar: str | None = None
    bare: str | None = None
    """Value of a flag that is given without one; None for a switch, or if a value is required."""
    check: Callable[[Any], None] | None = None
    """Checks a value of the right kind; raises a ValueError with the reason if the value is invalid."""

    @property
    def is_switch(self) -> bool:
        """Return whether the option is a flag without a value."""
        return self.kind == "bool" and self.metavar is None

    @property
    def ini(self) -> str:
        """Return the option's name in pytest's configuration."""
        return f"dvwiki_{self.name}"

    @property
    def ini_type(self) -> Literal["bool", "int", "float", "string"]:
        """Return the option's type in pytest's configuration."""
        return self.kind if self.kind in {"bool", "int", "float"} else "string"

    @property
    def variable(self) -> str:
        """Return the option's name in the environment."""
        return f"DVWIKI_{self.name.upper()}"

    def parse(self, value: object, where: str) -> object:
        """Convert a value to the option's kind, and validate it.

        Raises:
            SettingsError: The value cannot be converted, or is out of range.
        """
        parser, expected = _KINDS[self.kind]
        try:
            parsed = parser(value)
        except (TypeError, ValueError):
            raise SettingsError(f"{where}: expected {expected}, got {value!r:.60}") from None
        if self.check:
            try:
                self.check(parsed)
            except ValueError as error:
                raise SettingsError(f"{where}: {error}") from error
        if isinstance(parsed, (int, float)) and not isinstance(parsed, bool) and not 0 <= parsed <= _HIGHEST:
            raise SettingsError(f"{where}: expected a number from 0 to {_HIGHEST}, got {value!r:.60}")
        return parsed


def _parse_bool(value: object) -> bool:
    word = str(value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(word)
    return word in _TRUE


def _parse_int(value: object) -> int:
    if isinstance(value, (bool, float)):
        raise TypeError(value)
    return int(str(value))


def _parse_float(value: object) -> float:
    if isinstance(value, bool):
        raise TypeError(value)
    return float(str(value))


def _parse_string(value: object) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(value)
    return os.fspath(value)


def _parse_archive(value: object) -> Archive:
    if str(value).strip().lower() == "record":
        return "record"
    return "yes" if _parse_bool(value) else "no"


def _parse_branch(value: object) -> str:
    try:
        return "HEAD" if _parse_bool(value) else ""
    except ValueError:
        return _parse_string(value)


def _check_branch(name: str) -> None:
    """Reject a path or commit in place of a branch: pytest takes a path after a bare `--dvwiki-commit` as its value."""
    if name != "HEAD" and ("::" in name or os.path.exists(name)):  # noqa: PTH110  # the name need not be a valid path
        raise ValueError(
            f"{name!r:.60} is a path: put paths before a --dvwiki-commit without a branch; if a branch has this name, "
            f"write --dvwiki-commit=refs/heads/{name:.60}"
        )
    if re.fullmatch(r"[0-9a-f]{7,64}", name):
        raise ValueError(f"expected a branch, got {name}, which looks like a commit")


def _check_revision(text: str) -> None:
    if text and not _REVISION.fullmatch(text.strip()):
        raise ValueError(f"expected the name of a revision, such as 1234567, got {text!r:.60}")


def _check_backend(name: str) -> None:
    from pytest_dvwiki import backends  # noqa: PLC0415 (loaded only where a backend is set)

    backends.check(name)


def _check_gate(name: str) -> None:
    if name not in GATES:
        raise ValueError(f"no such gate {name!r:.40}; write one of {', '.join(GATES)}")


_KINDS: dict[Kind, tuple[Callable[[object], object], str]] = {
    "bool": (_parse_bool, "true or false"),
    "int": (_parse_int, "a whole number"),
    "float": (_parse_float, "a number"),
    "string": (_parse_string, "a string"),
    "archive": (_parse_archive, "no, record or yes"),
    "branch": (_parse_branch, "yes, no or a branch"),
}
"""The parser of each kind of option, and the kind's name in messages."""


def option(kind: Kind, *, default: object, help: str, otherwise: object = None, **more: Any) -> Any:  # noqa: A002
    """Return a field for a settings class, which is also a row in the table of options.

    Args:
        kind: The kind of the values.
        default: The default value; None if the default depends on other settings.
        help: The help text.
        otherwise: If `default` is None, the default in an object that is created directly, not by `resolve`.
        more: Other fields of `Option`.
    """
    unset = otherwise if default is None else default
    return field(default=unset, metadata={"kind": kind, "default": default, "help": help, **more})


def options_of(settings: type[DataclassInstance]) -> tuple[Option, ...]:
    """Return the table of options of a settings class: a row for each field made by `option`."""
    return tuple(Option(name=each.name, **each.metadata) for each in fields(settings) if each.metadata)


@dataclass(frozen=True)
class Settings:
    """All settings, validated: a field for each option, and values derived from these fields.

    The class is long because it contains the help text of each option.
    """

    layout: Layout
    enabled: bool = option("bool", default=False, flag="--dvwiki", help="Capture, classify and archive failures.")
    wiki_dir: str = option(
        "string",
        default=DEFAULT_WIKI_DIR,
        flag="--dvwiki-dir",
        metavar="PATH",
        help="Folder of the wiki, relative to pytest's root directory; records, journal and patterns are beside it.",
    )
    task: str = option(
        "string",
        default="",
        flag="--dvwiki-task",
        metavar="NAME",
        help="Name of this regression. A run with a name is always recorded, with the list of its tests. "
        'If empty, the record is called "regression".',
    )
    tee: bool = option(
        "bool",
        default=True,
        flag="--dvwiki-tee",
        metavar="yes|no",
        help="Also write the output of child processes to a file, to keep it as evidence under -s and after a kill;"
        " child processes then have no terminal.",
    )
    strict_logs: bool = option(
        "bool",
        default=False,
        flag="--dvwiki-strict-logs",
        help="Fail tests that pass with an error line in their log (UVM_ERROR, UVM_FATAL, $error, a logger's ERROR); "
        "a pattern of tier benign permanently accepts such a line. Needs --dvwiki.",
    )
    gate: Literal["none", "unwaived", "new"] = option(
        "string",
        default="none",
        flag="--dvwiki-gate",
        metavar="none|unwaived|new",
        check=_check_gate,
        help="Turn exit status 1 into 0 if every failure is accepted: `unwaived` accepts waived failures; `new` also "
        "accepts `wont_fix` and known causes that have not regressed. Needs --dvwiki.",
    )
    gate_base: str = option(
        "string",
        default="",
        flag="--dvwiki-gate-base",
        metavar="REF",
        help="Git revision from which the gate reads waivers, patterns, pages and records, such as the target branch "
        "of a pull request, so that a change cannot waive its own failures. If empty, the gate reads the working tree.",
    )
    ip_type: str = option(
        "string",
        default="",
        flag="--dvwiki-ip-type",
        metavar="NAME",
        help="Kind of design under test, for records and pages (axi, pcie, ddr, …). If empty, it comes from the list "
        "`ip_types` in the block `composition`: its only entry, or the entry that the test's name contains.",
    )
    ip_types: tuple[str, ...] = ()
    """`ip_type` if it is set, else the list `composition.ip_types` of project.yaml."""
    coverage: str = option(
        "string",
        default="",
        flag="--dvwiki-coverage",
        metavar="GLOB",
        help="Coverage reports (XML or YAML of cocotb-coverage, UCIS XML) that the tests write, relative to pytest's "
        "root directory: reports written during the run are read at its end. Separate several globs with spaces.",
    )
    codequality: str = option(
        "string",
        default="",
        flag="--dvwiki-codequality",
        metavar="FILE",
        help="Write the causes of the run to this file, as a code quality report for GitLab; relative to pytest's root "
        "directory.",
    )
    github: bool = option(
        "bool",
        default=True,
        flag="--dvwiki-github",
        metavar="yes|no",
        help="In GitHub Actions, annotate the causes of the run and add them to the job summary.",
    )
    archive: Archive = option(  # noqa: RUF009  # it returns a field
        "archive",
        default=None,
        otherwise="yes",
        flag="--dvwiki-archive",
        metavar="no|record|yes",
        help="What to write at the end of the run: nothing (failures are only classified and shown), only the"
        " record (as in a shard), or record and pages. If unset, `auto_ingest` decides.",
    )
    auto_ingest: bool = option(
        "bool",
        default=True,
        help="Another name for `archive`, from the wiki specification: true means `yes`, false means `no`. Ignored if"
        " `archive` is set.",
    )
    """Whether pages are written: True if `archive` is `yes`."""
    commit: str = option(
        "branch",
        default="",
        flag="--dvwiki-commit",
        metavar="BRANCH",
        bare="yes",
        check=_check_branch,
        help="Commit only the records and pages written by dvwiki, to the checked-out branch or to another branch."
        " A commit to another branch leaves the work tree, the index and HEAD unchanged.",
    )
    """The branch to commit to. `HEAD` is the checked-out branch; nothing is committed if empty."""
    html: str = option(
        "string",
        default="",
        flag="--dvwiki-html",
        metavar="DIR",
        help="Folder, relative to pytest's root directory, for the report: a static site, written or updated at the"
        " end of the run. Needs the extra `report`.",
    )
    revision: str = option(
        "string",
        default="",
        flag="--dvwiki-revision",
        metavar="TEXT",
        check=_check_revision,
        help="Revision of sources that are not in git, such as a changelist; used in place of the commit. Numbers"
        " are ordered by value, other names by their order in `revision_log`.",
    )
    revision_log: str = option(
        "string",
        default="",
        flag="--dvwiki-revision-log",
        metavar="PATH",
        help="File with the changes between revisions, relative to the root directory: one line per change, the"
        " newest first, with name and subject, as printed by `p4 changes` and `hg log`.",
    )
    record_host: bool = option(
        "bool",
        default=False,
        flag="--dvwiki-record-host",
        help="Record the host name, and the job id of LSF or Slurm, to show the hosts affected by an infrastructure"
        " cause.",
    )
    lock_timeout: float = option(
        "float",
        default=30.0,
        flag="--dvwiki-lock-timeout",
        metavar="SECONDS",
        help="How long to wait while another process writes to the wiki.",
    )
    max_context_tokens: int = option(
        "int", default=2000, help="Maximum number of tokens of wiki knowledge in a prompt."
    )
    pattern_context_tokens: int = option(
        "int",
        default=None,
        otherwise=500,
        help="Maximum number of tokens for known patterns; if unset, at most a quarter of max_context_tokens.",
    )
    bug_context_tokens: int = option(
        "int",
        default=None,
        otherwise=500,
        help="Maximum number of tokens for known bugs; if unset, at most a quarter of max_context_tokens.",
    )
    coverage_context_tokens: int = option(
        "int",
        default=None,
        otherwise=500,
        help="Maximum number of tokens for coverage holes; if unset, at most a quarter of max_context_tokens.",
    )
    summary_context_tokens: int = option(
        "int",
        default=None,
        otherwise=500,
        help="Maximum number of tokens for the table of statistics; if unset, at most a quarter of max_context_tokens.",
    )
    context_tokenizer: str = option(
        "string",
        default="",
        help="Path of a `tokenizer.json`, relative to the root directory, to count the tokens of a prompt exactly,"
        " without network access (needs the extra `tokens`). If empty, the count is estimated conservatively.",
    )
    search_backend: str = option(
        "string",
        default="bm25",
        check=_check_backend,
        help="How pages are searched: `bm25`, `keyword` (without an index), `none` (search disabled), or the name"
        " of a backend from another package.",
    )
    lint_on_startup: bool = option("bool", default=True, help="Run a quick check of the wiki when a session starts.")
    lint_interval_sessions: int = option("int", default=10, help="Number of sessions between full checks of the wiki.")

    @property
    def tokenizer(self) -> Path | None:
        """Return the tokenizer file, or None to estimate tokens by a rule."""
        return self.layout.root / self.context_tokenizer if self.context_tokenizer else None

    @property
    def task_name(self) -> str:
        """Return the name of the regression in its record: the setting `task`, or `regression` if that is empty."""
        return self.task or "regression"


OPTIONS = options_of(Settings)


def resolve(
    root: Path,
    *,
    command_line: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    ini: Mapping[str, object] | None = None,
) -> Settings:
    """Build the settings from their sources.

    Args:
        root: Absolute path of the project.
        command_line: Values by option name; None for flags not given.
        environ: The environment; None for that of this process.
        ini: Values in pytest's configuration, by option name; None for options not set.

    Raises:
        SettingsError: A value or a key is invalid.
    """
    environ = os.environ if environ is None else environ
    document, text = _document(root / PROJECT_FILE)
    project = _block(root / PROJECT_FILE, document, text, "wiki", ())
    values: dict[str, Any] = {}
    for row in OPTIONS:
        places: tuple[tuple[str, object], ...] = (
            (row.flag or row.name, (command_line or {}).get(row.name)),
            (row.variable, environ.get(row.variable) or None),
            (row.ini, (ini or {}).get(row.name)),
            (f"{root / PROJECT_FILE}: wiki.{row.name}", project.get(row.name)),
        )
        found = next(((where, value) for where, value in places if value is not None), None)
        try:
            values[row.name] = row.default if found is None else row.parse(found[1], found[0])
        except SettingsError as error:
            if found is not None and found[0] == places[-1][0]:
                raise ProjectFileError(str(error)) from None
            raise
    _share_budget(values)
    values["ip_types"] = (values["ip_type"],) if values["ip_type"] else _ip_types(document)
    values["archive"] = values["archive"] or ("yes" if values["auto_ingest"] else "no")
    values["auto_ingest"] = values["archive"] == "yes"
    # Not `Path.expanduser`, which raises if there is no home folder.
    wiki = Path(os.path.normpath(root / os.path.expanduser(values["wiki_dir"])))  # noqa: PTH111
    if wiki in {root, *root.parents}:
        raise SettingsError(f"wiki_dir {values['wiki_dir']!r}: the wiki needs a folder of its own below {root}")
    return Settings(layout=Layout(root, wiki, values["lock_timeout"]), **values)


def _ip_types(document: Any) -> tuple[str, ...]:
    """Return the valid kinds of design in the block `composition`, which other programs use, too."""
    block = document.get("composition") if isinstance(document, dict) else None
    listed = block.get("ip_types") if isinstance(block, dict) else None
    return tuple(each for each in listed if isinstance(each, str) and each) if isinstance(listed, list) else ()


def ip_type_of(nodeid: str, ip_types: Sequence[str]) -> str | None:
    """Return a test's kind of design: the project's only kind, or the kind in the test's name; None if unclear."""
    words = set(_NO_WORD.split(nodeid.lower()))
    named = [each for each in ip_types if each.lower() in words] if len(ip_types) > 1 else ip_types
    return named[0] if len(named) == 1 else None


def _share_budget(values: dict[str, Any]) -> None:
    """Give each category of a prompt its share of the tokens, so that the sum never exceeds the total."""
    names = [name for name in values if name.endswith("_context_tokens") and name != "max_context_tokens"]
    whole = values["max_context_tokens"]
    given = {name: values[name] for name in names if values[name] is not None}
    left = whole - sum(given.values())
    if left < 0:
        shares = ", ".join(f"{name} {value}" for name, value in given.items())
        raise SettingsError(
            f"max_context_tokens is {whole}, less than the sum of its shares ({shares}); raise it, or lower a share"
        )
    for name in names:
        values[name] = given.get(name, min(whole // 4, left // max(1, len(names) - len(given))))


def is_switched_on_by_project(root: Path) -> bool:
    """Return whether project.yaml enables the plugin. A plain block is read without a YAML parser.

    Unknown keys in a plain block that enables the plugin are left to `resolve`.

    Raises:
        SettingsError: The file cannot be read, `enabled` has an invalid value, or a key is unknown and not left to
            `resolve`.
    """
    path = root / PROJECT_FILE
    try:
        text = f"{reading.read_text(path)}\n"
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise ProjectFileError(f"{path}: {reading.reason(error)}") from None
    if _BLOCK.search(text) is None:
        return False
    plain = _PLAIN_BLOCK.search(text)
    keys = dict(_PLAIN_KEY.findall(plain[1])) if plain else {}
    word = keys.get("enabled", "false").lower()
    if plain and (word in _TRUE or (word in _FALSE and keys.keys() <= {row.name for row in OPTIONS})):
        return word in _TRUE
    enabled = read_project_file(path).get("enabled")
    return enabled is not None and OPTIONS[0].parse(enabled, f"{path}: wiki.enabled") is True


def read_project_file(path: Path, name: str = "wiki", keys: Iterable[str] = ()) -> Mapping[str, object]:
    """Return the block `name` of project.yaml; empty if there is no such file or block.

    The block may have the keys `keys` or, if that is empty, the names of the options.

    Raises:
        SettingsError: The file cannot be read, or a key in the block is unknown.
    """
    return _block(path, *_document(path), name, keys)


def _document(path: Path) -> tuple[Any, str]:
    """Return the content of project.yaml, parsed and as text; None and an empty string if there is no file."""
    try:
        text = reading.read_text(path)
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        raise ProjectFileError(f"{path}: {reading.reason(error)}") from None
    from pytest_dvwiki import yamlio  # noqa: PLC0415  # takes 19 ms; loaded only in a project with such a file

    try:
        return yamlio.load(text, str(path)), text
    except yamlio.YamlError as error:
        raise ProjectFileError(str(error)) from None


def _block(path: Path, document: Any, text: str, name: str, keys: Iterable[str]) -> Mapping[str, object]:
    block = document.get(name) if isinstance(document, dict) else None
    if block is None:
        return {}
    if not isinstance(block, dict):
        raise ProjectFileError(f"{path}: {name}: expected keys with values, got {block!r:.60}")
    known = sorted(keys or (row.name for row in OPTIONS))
    for key in block:
        if key not in known:
            from pytest_dvwiki import yamlio  # noqa: PLC0415

            line = yamlio.line_of((name, str(key)), yamlio.located(text, 2))
            raise ProjectFileError(f"{path}:{line}: {name}.{key}: no such setting; {yamlio.nearest(key, known)}")
    return block
