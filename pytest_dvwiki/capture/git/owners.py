"""Reader of CODEOWNERS files, by the rules of GitHub or GitLab.

The last line that matches a path wins, even if it lists no owners. In GitLab, a file can have sections (`[Name]
@default-owners`), which apply independently of each other, and a pattern is anchored at the top only if it begins with
a slash. Lines that are not rules are ignored.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Paths of the file relative to the top of the repository, in order of precedence."""
_SECTION = re.compile(r"\^?\[(?P<name>[^\]]+)\](?:\[\d+\])?(?P<owners>(?:\s+@?\S+)*)\s*")
_OWNER = re.compile(r"@\S+|[^\s@]+@[^\s@]+")
_WORD = re.compile(r"(?:\\.|\S)+")
_PART = re.compile(
    r"\\(?P<literal>.)|(?P<folders>(?:(?<=/)|^)\*\*/)|(?P<all>\*\*)|(?P<some>\*)|(?P<one>\?)|(?P<other>.)"
)
_TRANSLATED = {"folders": "(?:.+/)?", "all": ".*", "some": "[^/]*", "one": "[^/]"}
"""Maps the groups of `_PART` for wildcards to expressions."""


class _Section(Struct):
    """The rules of a section; the last rule that matches wins."""

    default: tuple[str, ...] = ()
    rules: list[tuple[re.Pattern[str], tuple[str, ...]]] = field(default_factory=list)

    def of(self, path: str) -> tuple[str, ...]:
        return next((owners for pattern, owners in reversed(self.rules) if pattern.fullmatch(path)), ())


class CodeOwners:
    """The rules of one CODEOWNERS file: GitLab's if `gitlab` or if the file has sections, otherwise GitHub's."""

    def __init__(self, text: str, *, gitlab: bool = False) -> None:
        lines = [line.strip() for line in text.splitlines()]
        gitlab = gitlab or any(_SECTION.fullmatch(line) for line in lines)
        self._sections = {"": _Section()}
        section = self._sections[""]
        for line in lines:
            if not line or line.startswith("#"):
                continue
            header = _SECTION.fullmatch(line) if gitlab else None
            if header:
                # Section names are not case-sensitive; repeated sections are merged, with the defaults of the last.
                section = self._sections.setdefault(header["name"].strip().casefold(), _Section())
                section.default = _owners(header["owners"])
                continue
            pattern = _WORD.match(line)
            if pattern is None:
                continue
            owners = _owners(line[pattern.end() :])
            excluded = gitlab and pattern[0].startswith("!")
            source = pattern[0].removeprefix("!") if excluded else pattern[0]
            named = () if excluded else owners or section.default
            section.rules.append((_expression(source, anchors_inside=not gitlab), named))

    def of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a file, by its path from the top of the repository; empty if there are none."""
        return tuple(dict.fromkeys(owner for section in self._sections.values() for owner in section.of(path)))


def _owners(text: str) -> tuple[str, ...]:
    """Return the owners listed after a line's pattern, without a comment at the end."""
    words = re.split(r"(?:^|\s)#", text, maxsplit=1)[0].split()
    return tuple(word for word in words if _OWNER.fullmatch(word))


def _expression(pattern: str, *, anchors_inside: bool) -> re.Pattern[str]:
    """Return a regular expression for a pattern. The expression for a folder matches all files below the folder.

    Args:
        pattern: Pattern as in the file.
        anchors_inside: Whether a slash inside the pattern anchors it at the top, as a leading slash does.
    """
    is_folder = pattern.endswith("/")
    inner = pattern.strip("/")
    anchored = pattern.startswith("/") or (anchors_inside and "/" in inner)
    translated = "".join(map(_part, _PART.finditer(inner)))
    # `docs/*` matches only files directly in `docs`.
    files_alone = inner.endswith("/*") or (inner == "*" and anchored)
    below = "/.+" if is_folder else "" if files_alone else "(?:/.+)?"
    return re.compile(f"{'' if anchored else '(?:.+/)?'}{translated}{below}", re.DOTALL)


def _part(match: re.Match[str]) -> str:
    return _TRANSLATED.get(str(match.lastgroup)) or re.escape(match["literal"] or match["other"])
