"""Evaluates a check, and reports what was found, missing, extra or waived."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from pytest_dvwiki.checks.inputs import InputError, inputs_of, lines_of
from pytest_dvwiki.checks.schema import Check, CheckError, CheckType, Expectation, load_check
from pytest_dvwiki.logtext.user_frames import shown_path
from pytest_dvwiki.model.sentences import few
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_dvwiki.checks.inputs import Input
    from pytest_dvwiki.checks.matching import LineWaiver
    from pytest_dvwiki.checks.schema import Expected

_LONGEST = 1000
"""Maximum length of each string in a result, in characters."""
_NAMED = 3
_TAGS = {"violation": "[WAIVED_AS_INFO]", "reason": "[WAIVED_INFO]", "unused": "[WAIVER]"}


class ResultLine(Struct, frozen=True, kw_only=True):
    """One line of a result."""

    item: str
    """Name of the item; empty for a line about a waiver or its reason."""
    value: str | None = None
    source_file: str | None = None
    line_number: int | None = None
    matched_content: str | None = None
    parsed_fields: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    """Why the item is missing or extra, such as `is missing: …`; empty for other items."""
    waiver: str = ""
    """The waiver of the violation; empty if there is none."""
    tag: str = ""

    @property
    def place(self) -> str:
        """Return the location as `file:line`, as far as it is known."""
        return f"{self.source_file or ''}{f':{self.line_number}' if self.line_number else ''}"

    def cleaned(self) -> ResultLine:
        """Return the line with secrets masked and long strings cut. Its strings come from untrusted files."""
        return replace(
            self,
            **{
                name: _cleaned(getattr(self, name)) for name in ("item", "value", "matched_content", "reason", "waiver")
            },
            source_file=None if self.source_file is None else redact(self.source_file),
            parsed_fields={name: _cleaned(value) for name, value in self.parsed_fields.items()},
        )


def _cleaned(text: str | None) -> Any:
    return None if text is None else redact(text[:_LONGEST])


class CheckResult(Struct, frozen=True, kw_only=True):
    """The result of a check."""

    file: str
    description: str
    type: CheckType
    found: tuple[ResultLine, ...]
    missing: tuple[ResultLine, ...]
    extra: tuple[ResultLine, ...]
    waived: tuple[ResultLine, ...]
    unused_waivers: tuple[ResultLine, ...]
    is_empty: bool
    """Whether the check has neither items nor input files."""
    expected: tuple[Expected, ...] = ()
    """The accepted results. If there are none, a result without violations is accepted."""

    @property
    def status(self) -> Literal["PASS", "FAIL"]:
        """Return `FAIL` if there is a violation that is not waived, else `PASS`."""
        return "FAIL" if self.violations else "PASS"

    @property
    def violations(self) -> tuple[ResultLine, ...]:
        """Return the missing and extra entries that are not waived."""
        return (*self.missing, *self.extra)

    @property
    def expectation(self) -> Expected | None:
        """Return the first expected result that matches this result, or None."""
        return next((case for case in self.expected if self._is_like(case)), None)

    @property
    def is_right(self) -> bool:
        """Return whether the result matches an expected result or, if there are none, has no violations."""
        return self.expectation is not None if self.expected else not self.violations

    def _is_like(self, case: Expected) -> bool:
        entries = {name: {each.item or each.value for each in getattr(self, name)} for name, _ in case.lists}
        return self.status == case.status and all(entries[name] == names for name, names in case.lists)

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain values. Lists not used by this type of check are omitted."""
        lists = ["found", "missing"]
        lists += ["extra"] if self.type in {2, 3} else []
        lists += ["waived", "unused_waivers"] if self.type in {3, 4} else []
        about: dict[str, Any] = {
            "file": self.file,
            "description": self.description,
            "type": self.type,
            "status": self.status,
        }
        if self.expected:
            about["expectation"] = self.expectation.when if self.expectation else None
        return about | {name: [_plain(entry) for entry in getattr(self, name)] for name in lists}


def _plain(entry: ResultLine) -> dict[str, Any]:
    return {
        name: value for name, value in to_builtins(entry).items() if value or name not in {"reason", "waiver", "tag"}
    }


def check(path: Path, *, root: Path, environment: Mapping[str, str]) -> CheckResult:
    """Run a check.

    Args:
        path: The file of the check.
        root: The folder to which file names in the result and in errors are relative.
        environment: The environment variables, which the names of input files may contain.

    Raises:
        CheckError: The check cannot be run.
    """
    try:
        checked = load_check(path)
        inputs = inputs_of(checked, environment)
    except CheckError as error:
        raise CheckError(str(error).replace(f"{root}{os.sep}", "")) from error
    is_of_files = all(item.match is None for item in checked.items)
    entries = _of_files(inputs, checked.items, root) if is_of_files else _Extraction(checked, inputs).entries()
    found, missing, extra = [], [], []
    for item, entry in entries:
        if entry.reason:
            missing.append(entry)
        elif item is None or item.pattern is None or item.pattern.matches(entry.value or ""):
            found.append(entry)
        else:
            extra.append(replace(entry, reason=f"does not match {item.pattern.text!r}"))
    waived, unused, left = _waive(checked, (*missing, *extra))

    def shown(entries: Iterable[ResultLine]) -> tuple[ResultLine, ...]:
        return tuple(
            replace(each, source_file=each.source_file and _shown(each.source_file, root)).cleaned() for each in entries
        )

    return CheckResult(
        file=redact(_shown(path, root)),
        description=redact(checked.description),
        type=checked.type,
        found=shown(found),
        missing=shown(each for each in missing if each in left),
        extra=shown(each for each in extra if each in left),
        waived=shown(waived),
        unused_waivers=shown(unused),
        is_empty=not checked.items,
        expected=checked.expected,
    )


def _shown(path: Path | str, root: Path) -> str:
    return shown_path(os.path.normpath(path), root)


def _of_files(
    inputs: Sequence[Input], items: Sequence[Expectation], root: Path
) -> Iterator[tuple[Expectation, ResultLine]]:
    """Yield a result for each entry of `input_files`. An entry is found if it has a readable file that is not empty."""
    for item, each in zip(items, inputs, strict=True):
        reasons = []
        for file in each.files:
            try:
                if next(lines_of(file), None) is not None:
                    yield item, ResultLine(item=item.name, value=_shown(file, root), source_file=str(file))
                    break
                reasons.append(f"{file.name} is empty")
            except InputError as error:
                reasons.append(f"{file.name} {error}")
        else:
            yield (
                item,
                ResultLine(
                    item=item.name, reason=f"is missing: {'; '.join(reasons[:_NAMED]) or 'there is no such file'}"
                ),
            )


class _Extraction:
    """Searches the files for the items. A file is read once for all items that are searched for in it."""

    def __init__(self, checked: Check, inputs: Sequence[Input]) -> None:
        self._checked = checked
        self._inputs = inputs
        self._found: dict[str, list[ResultLine]] = {item.name: [] for item in checked.items}
        self._unreadable: list[ResultLine] = []

    def entries(self) -> Iterator[tuple[Expectation | None, ResultLine]]:
        """Yield the result of each item, found or missing, followed by the unreadable files."""
        groups: dict[str | None, list[Expectation]] = {}
        for item in self._checked.items:
            groups.setdefault(item.source, []).append(item)
        for source, items in groups.items():  # an item comes after the one that names its file
            files = [*dict.fromkeys(self._files(source))]
            unreadable = {file for file in files if not self._read(file, items)}
            why = self._why_missing(
                [file.name for file in files if file not in unreadable], source, is_unreadable=bool(unreadable)
            )
            for item in items:
                self._found[item.name] = self._found[item.name] or [
                    ResultLine(item=item.name, reason=f"is missing: {why}")
                ]
        for item in self._checked.items:
            yield from ((item, entry) for entry in self._found[item.name])
        yield from ((None, entry) for entry in self._unreadable)

    def _why_missing(self, names: Sequence[str], source: str | None, *, is_unreadable: bool) -> str:
        """Return why an item was not found."""
        if names:
            return f"no line of {few(names, _NAMED)} matches"
        if is_unreadable:
            return "its file cannot be read"
        if source is not None:
            return f"{source!r} names no file"
        entries = ", ".join(each.entry for each in self._inputs)
        return f"no file matches {entries}" if entries else "input_files is empty"

    def _files(self, source: str | None) -> Iterator[Path]:
        if source is None:
            yield from (file for each in self._inputs for file in each.files)
            return
        for entry in self._found[source]:
            named = entry.parsed_fields.get("path") or entry.value
            if named and entry.source_file:
                # A tool writes names relative to its working folder, usually the folder of its log or of the check.
                folders = (Path(entry.source_file).parent, self._checked.path.parent)
                there = (folder / named for folder in folders)
                # `os.path.isfile` raises nothing if a name is too long.
                yield next((path for path in there if os.path.isfile(path)), folders[0] / named)  # noqa: PTH113

    def _read(self, file: Path, items: Sequence[Expectation]) -> bool:
        """Search a file for items, keep the first match of each, and return whether the file could be read."""
        left = list(items)
        try:
            for number, line in lines_of(file):
                for item in tuple(left):
                    entry = _extracted(item, line)
                    if entry is not None:
                        left.remove(item)
                        placed = replace(entry, source_file=str(file), line_number=number)
                        self._found[item.name].append(placed)
                if not left:
                    break
        except InputError as error:
            self._unreadable.append(ResultLine(item=file.name, source_file=str(file), reason=f"is missing: it {error}"))
            return False
        return True


def _extracted(item: Expectation, line: str) -> ResultLine | None:
    """Return the values that a line gives for an item, or None if the item's expression does not match."""
    hit = item.match.search(line) if item.match is not None else None
    if hit is None:
        return None
    value = hit.groups.get("value", "").strip()
    fields = {name: hit.groups.get(name, "").strip() for name in item.names}
    empty = [*([] if value else ["value"]), *(name for name in item.required if not fields[name])]
    return ResultLine(
        item=item.name,
        value=value,
        matched_content=line.strip(),
        parsed_fields=fields,
        reason=f"is incomplete: {', '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty" if empty else "",
    )


def _waive(
    checked: Check, violations: Sequence[ResultLine]
) -> tuple[list[ResultLine], list[ResultLine], list[ResultLine]]:
    """Return waived violations (with the reasons of a global waiver), unused waivers, and the remaining violations."""
    source = str(checked.path)
    waivers = checked.waivers or ()

    def of(waiver: LineWaiver, tag: str) -> ResultLine:
        return ResultLine(item="", value=waiver.text, source_file=source, line_number=waiver.line, tag=_TAGS[tag])

    if checked.is_global:
        waived = [replace(each, tag=_TAGS["violation"]) for each in violations]
        return [*waived, *(of(waiver, "reason") for waiver in waivers)], [], []
    texts = {id(each): [text for text in (each.item, each.value) if text] for each in violations}
    accepted: list[ResultLine] = []
    left: list[ResultLine] = []
    for each in violations:
        waiver = next((one for one in waivers if one.accepts(texts[id(each)])), None)
        (left if waiver is None else accepted).append(replace(each, waiver=waiver.text) if waiver else each)
    unused = [one for one in waivers if not any(one.accepts(each) for each in texts.values())]
    return accepted, [of(waiver, "unused") for waiver in unused], left
