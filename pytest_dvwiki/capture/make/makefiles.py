"""Reconstruction of a run's make command: the variables that the Makefile takes from outside, and their values.

When artefacts are read later, the environment of their run is unknown. The log shows the values, because make prints
the commands that it runs with all variables expanded.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki import reading, simulators
from pytest_dvwiki.capture.make.evaluation import OF_MAKE, Evaluation
from pytest_dvwiki.capture.make.solving import OLD_NAMES, REFERENCE, Solution, solve, values_in
from pytest_dvwiki.capture.processes.tools import makefiles
from pytest_dvwiki.capture.simulations.reproduce import VARIABLES, Call, relative, with_places
from pytest_dvwiki.records.command import workspace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

_OR = re.compile(r"\$[({]or[ \t]+(\$[({]\w+[)}])[ \t]*,[^(){}$]*[)}]")
"""Matches `$(or $(NAME),default)`."""
_CONDITION = re.compile(r"^[ \t]*(?:else[ \t]+)?ifn?def[ \t]+([A-Za-z_]\w*)", re.MULTILINE | re.ASCII)
_ASSIGNMENT = re.compile(
    r"[ \t]*(?:(?:export|override|private)[ \t]++)*([A-Za-z_]\w*)[ \t]*([?+!]=|:{0,3}=)([^#]*)", re.ASCII
)
_OF_TARGETS = re.compile(r" *+([^\s:=#][^:=#]*+)::?(?!=)")
"""Matches the targets of a rule, or of a target-specific assignment."""
_DEFINE = re.compile(r"[ \t]*(?:(?:export|override|private)[ \t]++)*define[ \t]++([^\s=:?+!]++)[ \t]*([?+!]?:{0,3}=)?")
_END_OF_DEFINE = re.compile(r"[ \t]*endef\b")
_IN_RULE = re.compile(r"[ \t]*(?:(?:else|endif|ifn?def|ifn?eq)\b|$)")
"""Matches a line that neither begins nor ends a rule."""
_INCLUDE = re.compile(r"^[ \t]*-?include[ \t]++([^$\n]++)$", re.MULTILINE)
_INCLUDE_ANY = re.compile(r"[ \t]*-?s?include\b")
# Variables that cocotb's Makefile passes to the simulator, as the log shows them.
_GIVEN = re.compile(r"\b(COCOTB_TEST_MODULES|MODULE|COCOTB_TOPLEVEL|TOPLEVEL|TOPLEVEL_LANG)=([^\s\\]+)")
_RAN = re.compile(r"\b(?:COCOTB_TEST_MODULES|MODULE)=([^\s\\]+)|\brunning (\S+)\.\w+ \(\d+/\d+\)$", re.MULTILINE)
"""Matches the test modules of a simulation: in make's command, or in cocotb's line at the start of a test."""
_TOP = re.compile(r"\b(?:COCOTB_)?TOPLEVEL\b")
_RULE = re.compile(r"^([A-Za-z0-9_][\w.-]*)[ \t]*::?(?!=)[^\n]*((?:\n(?:\t[^\n]*)?)*)", re.MULTILINE)
"""Matches a rule with one literal target, and its recipe."""
_ENDED = re.compile(r"^(?:.*\*\* TESTS=\d+ .*|g?make(?:\[\d+\])?: \*\*\* .*)$", re.MULTILINE)
"""Matches a line that ends the log of a simulation, or of a failed build."""
_ENTERED = re.compile(r"^(?:\S*/)?g?make\[\d+\]: Entering directory [`']([^'\n]+)'$")
_ENTERED_ANY = re.compile(r"^(?:\S*/)?g?make(?:\[\d+\])?: Entering directory [`']([^'\n]+)'$")
_CHANGED = re.compile(r"\bmake: Entering directory|\bg?make\b[^\n]* (?:-C|--directory)[ =]?[\w./]")
"""Matches a sign that make was called with `-C`."""
_MAKE = re.compile(
    r"(?:^|[;&|] *)[-@+]*(?:(?:\S*/)?(?:env|nice|nohup|time|timeout)(?: +[\w.:=-]+)* +)?"
    r"(?:\$[({]MAKE[)}]|(?:[\w./-]*/)?g?make)(?= |$)([^;&|<>`$]*)$"
)
"""Matches a call of make, perhaps through `timeout 60`, at the end of a line in a log or recipe."""
_BELOW_PWD = re.compile(r"\$[({]PWD[)}]/([^$:]+)")
_RESULTS = re.compile(r'^"(?:\S*/)?g?make" -f \S+ (\S+)$', re.MULTILINE)
"""Matches the call of make by which cocotb's Makefile makes the results file."""
_LINES_BEFORE = 3
"""Number of lines before "Entering directory" that are searched for the call of make."""
_MOST_CALLS = 64
"""Number of calls of make in a folder, counted from the last, that are searched for the simulation."""
HEAD = 256 * 1024
"""Number of bytes that are read from the start of a Makefile or log."""
_MOST_FILES = 8
_LONGEST_VALUE = 400
_LEAST_LITERAL = 3
"""Minimum number of literal characters in a Makefile's word for it to be searched for in a log."""


def from_outside(text: str, targets: Collection[str] = ()) -> frozenset[str]:
    """Return the names of the variables that a Makefile takes from the environment or the command line.

    Assignments for a single target count only for the given targets.
    """
    found = assignments(text, targets)
    fixed = {name for name, how, value in found if how not in {"?=", "+="} and f"({name})" not in value}
    weak = {name for name, how, _ in found if how in {"?=", "+="}}
    names = (set(REFERENCE.findall(text)) | set(_CONDITION.findall(text)) | weak) - fixed
    return frozenset(name for name in names if not OF_MAKE.fullmatch(name))


def make_call(
    makefile: Path,
    log: str,
    root: Path,
    environment: Mapping[str, str] | None = None,
    *,
    modules: Collection[str] = (),
    whole: str = "",
) -> Call | None:
    """Return the call of make that ran a Makefile; None if make's working directory is unknown.

    A directory outside the repository, or outside the root if there is no repository, is treated as unknown. The values
    of variables are taken from the log. If the log does not show the value of a variable that the Makefile takes from
    outside, the variable's current value (in `environment`) is used.

    `modules` are the test modules of the run, if known; the log may also hold other simulations. `whole` is the log of
    all calls of make, if `log` is a part of it.
    """
    environment = os.environ if environment is None else environment
    top, in_repository = workspace(root)
    folder, text = makefile.parent, text_of(makefile)
    here = _started_in(folder, text, log, top)
    if here is None or not here.is_relative_to(top):
        return None
    tops = _tops(whole or log, folder)
    results = {*_RESULTS.findall(log)}
    called, log = _called(log, folder, text, modules)
    log = _part_with(log, modules)
    if (named := named_makefile(called, folder)) is None and makefile not in makefiles(folder):
        called = ["-f", makefile.name, *called]
    elif named is not None:
        text = text_of(named)
    given = _given(called)
    shown = values_in_log(log)
    target, needless = _own_rule(text, modules_in(shown))
    goals = _goals(called, target, text)
    lines, names = statements(text, goals), from_outside(text, goals)
    settings = [each for each in lines if each[1]]
    solved = _solved(text, settings, names, log, shown)
    free = names - given.keys()
    solution = solve(
        lines, free, _logged_values(shown, results, modules), given=given, likely=solved, environment=environment
    )
    solved = shown | solution.values
    needless |= given.keys()
    solved = {name: value for name, value in solved.items() if OLD_NAMES.get(name, name) not in needless}
    variables, more = _split_variables(solved, names, settings, solution, solved.keys() - shown.keys())
    words = [_placed_word(word, top, folder) for word in called]
    if target and all("=" in word for word in called):
        words.append(target)
    words += more
    for name in sorted((names | set(VARIABLES)) - given.keys()):
        if name not in solved and environment.get(name) and len(environment[name]) < _LONGEST_VALUE:
            variables[name] = environment[name]
    built = top_in(shown)
    if built and tops - {built} and "Makefile.sim" in text and "SIM_BUILD" not in text:
        # The default build folder may hold another design, which make would take for this one.
        variables["SIM_BUILD"] = f"sim_build/{built}"
    changed = () if here == folder else ("-C", relative(folder, here))
    return Call(
        arguments=("make", *changed, *words),
        variables=with_places(variables, top, here),
        folder=relative(here, top),
        in_repository=in_repository,
        items=None,
        unknown=solution.unknown,
    )


def _split_variables(
    solved: Mapping[str, str],
    names: Collection[str],
    settings: Sequence[tuple[str, str, str]],
    solution: Solution,
    inferred: Collection[str],
) -> tuple[dict[str, str], list[str]]:
    """Return the variables to set in the environment, and the arguments to add to make's command line.

    Only the command line overrides the Makefile's own assignments. `solved` are the values of variables in a run; the
    log does not show those in `inferred`. The Makefile takes the variables in `names` from outside.
    """
    variables, words = {}, []
    for name, value in solved.items():
        own = [(how, setting) for each, how, setting in settings if each == name]
        made = solution.made(name)
        if name == "SIM" and made != value and made in simulators.owners().values():
            words.append(f"SIM={value}")
        elif name == "SIM" or name in names or not own:
            if name == "SIM" or ("?=", value) not in own:
                variables[name] = value
        elif made != value and (made or not any(setting == value or _follows(setting, inferred) for _, setting in own)):
            words.append(f"{name}={value}")
    return variables, words


def _logged_values(shown: Mapping[str, str], results: Collection[str], modules: Collection[str]) -> dict[str, str]:
    """Return the known values of cocotb's variables: those in a log, the only results file and the only test module."""
    values = dict(shown)
    if len(results) == 1:
        values["COCOTB_RESULTS_FILE"] = next(iter(results))
    if len(modules) == 1 and not modules_in(shown):
        values["COCOTB_TEST_MODULES"] = next(iter(modules))
    return values


def _own_rule(text: str, modules: Collection[str]) -> tuple[str, frozenset[str]]:
    """Return the target of the rule that runs test modules, and the variables of cocotb that need not be set for it.

    The recipe calls the simulator itself and sets the modules. If the Makefile does not mention the top, the top need
    not be set either, because the simulator's command contains it.

    Returns:
        An empty target if no rule, or several, set these modules, or if cocotb's Makefile calls the simulator.
    """
    rules = _RULE.findall(text) if modules and "Makefile.sim" not in text else []
    found = [
        (target, recipe)
        for target, recipe in rules
        if modules_in(values_in_log(recipe)) == modules and not any(map(_words, recipe.split("\n\t")))
    ]
    if len(found) != 1:
        return "", frozenset()
    target, recipe = found[0]
    names = {OLD_NAMES.get(name, name) for name, _ in _GIVEN.findall(recipe)}
    return target, frozenset(names if _TOP.search(text) else names | {"COCOTB_TOPLEVEL"})


def _goals(called: Sequence[str], target: str, text: str) -> list[str]:
    """Return the targets that a call of make built: those named in the call and `target`, or else the default."""
    options = [number for number, word in enumerate(called) if word in {"-f", "--file"}]
    named = [word for number, word in enumerate(called) if "=" not in word and not {number, number - 1} & {*options}]
    if target or named:
        return [*named, target]
    # An include before the first rule may define the default target.
    first = next((line for line in text.split("\n") if _RULE.match(line) or _INCLUDE_ANY.match(line)), "")
    found = _RULE.match(first)
    return [found[1]] if found else []


def named_makefile(words: Sequence[str], folder: Path) -> Path | None:
    """Return the Makefile given by `-f` in a call of make in a folder; None without `-f`, or if the file is missing."""
    pairs = itertools.pairwise(words)
    path = next((folder / name for option, name in pairs if option in {"-f", "--file"}), None)
    return path if path is not None and path.is_file() else None


def _started_in(folder: Path, text: str, log: str, top: Path) -> Path | None:
    """Return make's working directory; None if it matters but is unknown.

    The directory matters if the Makefile reads `$(PWD)`, because `make -C` does not change that variable. The log shows
    the directory in paths that the Makefile builds from `$(PWD)`. If the log has no such paths, the directory is the
    folder that contains most of the Makefile's files below `$(PWD)`.
    """
    if "PWD" not in REFERENCE.findall(text):
        return folder
    given = {word.rpartition("=")[2] for word in text.split()}
    below = {word for word in given if "PWD" in REFERENCE.findall(word)}
    logged = {word.strip("'`\",;:") for word in log.split()}
    long = (word for word in below if len(REFERENCE.sub("", word)) >= _LEAST_LITERAL)
    values = {value for word in long if (value := values_in(logged, word).get("PWD"))}
    lines = log.split("\n")
    entries = [(number, name) for number, line in enumerate(lines) if (name := _entered(line, folder))]
    if len(values) == 1:
        inside = entries[-1][1] if entries else str(folder)
        up = os.path.relpath(os.path.realpath(values.pop()), os.path.realpath(inside))
        return Path(os.path.normpath(folder / up))
    paths = [found[1] for word in below if (found := _BELOW_PWD.fullmatch(word))]
    folders = [each for each in (folder, *folder.parents) if each.is_relative_to(top)]
    counts = {each: sum((each / path).exists() for path in paths) for each in folders}
    most = max(counts.values(), default=0)  # not all of them: the simulation may have failed because one is missing
    fitting = [each for each, number in counts.items() if number == most > 0]
    if paths and len(fitting) <= 1:
        return fitting[0] if fitting else None
    before = (line for number, _ in entries for line in lines[max(0, number - _LINES_BEFORE) : number + 1])
    return None if any(map(_CHANGED.search, before)) else folder


def _entered(line: str, folder: Path) -> str | None:
    """Return the name of a folder as written in the line in which make enters it; None for any other line."""
    found = _ENTERED_ANY.match(line)
    return found[1] if found and _is_same_folder(found[1], folder) else None


def _modules_in(log: str) -> list[set[str]]:
    """Return the set of test modules for each line of a log that shows any."""
    return [set(filter(None, (given or running).split(","))) for given, running in _RAN.findall(log)]


def _has_others(log: str, modules: Collection[str]) -> bool:
    """Return whether a log shows a simulation that ran none of the given test modules."""
    return any(each.isdisjoint(modules) for each in _modules_in(log))


def _part_with(log: str, modules: Collection[str]) -> str:
    """Return the part of a log about the given test modules; the whole log if it shows no other modules.

    If no modules are given and the log shows different ones, the part is empty.
    """
    shown = _modules_in(log)
    if not (_has_others(log, modules) if modules else any(shown[0].isdisjoint(each) for each in shown)):
        return log
    parts = _ENDED.split(log)
    return "\n".join(part for part in parts if _modules_in(part) and not _has_others(part, modules))


def _called(log: str, folder: Path, text: str, modules: Collection[str]) -> tuple[list[str], str]:
    """Return the arguments of the last call of make in a Makefile's folder, and the log of that call.

    A Makefile can call itself to select a design: `ram: ; $(MAKE) TOPLEVEL=ram SOURCES=ram.sv`. The log of a whole
    regression also shows the values of other folders.

    Returns:
        The arguments (none if unknown), and the log of that call alone (the whole log if unknown).
    """
    lines = log.replace("\\\n", " ").split("\n")
    entries = [(number, found[1]) for number, line in enumerate(lines) if (found := _ENTERED.match(line))]
    own = [(number, name) for number, name in entries if _is_same_folder(name, folder)]
    calls = [(number, _inside(lines, number, name)) for number, name in own[: -_MOST_CALLS - 1 : -1]]
    # A Makefile may also be called to clean up, or for another design.
    showing = [call for call in calls if modules and any(not each.isdisjoint(modules) for each in _modules_in(call[1]))]
    for number, inside in showing or calls:
        if modules and _has_others(inside, modules):
            continue
        printed = filter(None, map(_words, reversed(lines[max(0, number - _LINES_BEFORE) : number])))
        words = next(printed, None) or _arguments_in_recipe(text, values_in_log(inside)) or []
        if words or values_in_log(inside):
            return words, inside
    return [], log if len(own) == len(entries) else calls[-1][1] if calls else log


def _tops(log: str, folder: Path) -> set[str]:
    """Return the tops that calls of make in a folder built or ran, as far as a log shows them."""
    lines = log.split("\n")
    entries = ((number, found[1]) for number, line in enumerate(lines) if (found := _ENTERED.match(line)))
    own = [(number, name) for number, name in entries if _is_same_folder(name, folder)][-_MOST_CALLS:]
    shown = (values_in_log(_inside(lines, number, name)) for number, name in own)
    return {top for each in shown if (top := top_in(each))}


def _inside(lines: Sequence[str], number: int, name: str) -> str:
    """Return the part of a log from make's line about entering a folder to its line about leaving it."""
    left = f"Leaving directory '{name}'"
    end = next((at for at in range(number, len(lines)) if left in lines[at]), len(lines))
    return "\n".join(lines[number:end])


def _is_same_folder(name: str, folder: Path) -> bool:
    """Return whether a folder in a log is the given folder, or at least has its name: the log may be from elsewhere."""
    return Path(os.path.realpath(name)) == Path(os.path.realpath(folder)) or Path(name).name == folder.name


def _arguments_in_recipe(text: str, shown: Mapping[str, str]) -> list[str] | None:
    """Return the arguments of the only recipe line that calls make with the values in a log; otherwise None."""
    found = [
        words
        for line in text.split("\n")
        if line.startswith("\t") and (words := _words(line.strip())) and _agrees(_given(words), shown)
    ]
    return found[0] if len(found) == 1 else None


def _agrees(given: Mapping[str, str], shown: Mapping[str, str]) -> bool:
    named = {OLD_NAMES.get(name, name): value for name, value in shown.items()}
    both = given.keys() & named.keys()
    return bool(both) and all(given[name] == named[name] for name in both)


def _words(line: str) -> list[str] | None:
    """Return the targets and variables in a call of make; None if the line is no call or cannot be parsed."""
    found = _MAKE.search(line)
    if found is None:
        return None
    try:
        words = shlex.split(found[1])
    except ValueError:
        return None
    kept = []
    while words:
        word = words.pop(0)
        if word in {"-C", "--directory", "-j", "-l", "-I"}:
            del words[:1]
        elif word in {"-f", "--file"}:
            kept += [word, *words[:1]]
            del words[:1]
        elif not word.startswith("-"):
            kept.append(word)
    return kept


def _given(words: Sequence[str]) -> dict[str, str]:
    """Return the variables in make's arguments; cocotb's old names are replaced by the current ones."""
    pairs = (word.partition("=")[::2] for word in words if "=" in word)
    return {OLD_NAMES.get(name, name): value for name, value in pairs}


def _placed_word(word: str, top: Path, folder: Path) -> str:
    """Return an argument of a command; a path below the top is made relative to the command's folder."""
    name, separator, value = word.rpartition("=")
    inside = value.startswith("/") and Path(value).is_relative_to(top)
    return f"{name}{separator}{relative(value, folder)}" if inside else word


def modules_in(values: Mapping[str, str]) -> set[str]:
    """Return the test modules in cocotb's variables."""
    return {*(values.get("COCOTB_TEST_MODULES") or values.get("MODULE") or "").split(",")} - {""}


def top_in(values: Mapping[str, str]) -> str | None:
    """Return the top in cocotb's variables; None if they do not set it."""
    return values.get("COCOTB_TOPLEVEL") or values.get("TOPLEVEL")


def values_in_log(log: str) -> dict[str, str]:
    """Return cocotb's own variables with their values in a log."""
    found: dict[str, str] = {}
    called, banner, named_top = _expressions()
    if match := called.search(log):
        found["SIM"] = simulators.owners()[match[1]]
    elif (match := banner.search(log)) and (name := simulators.name_in_banner(match[1])):
        found["SIM"] = name
    for name, value in _GIVEN.findall(log):
        found.setdefault(name, value)
    if (top := named_top.search(log)) and not {"COCOTB_TOPLEVEL", "TOPLEVEL"} & found.keys():
        found["COCOTB_TOPLEVEL"] = top[1]
    return found


@functools.cache
def _expressions() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return expressions that find, in a log, a simulator's call, its banner, and the top module named in its call."""
    called = [name for tool in simulators.tools() for name in tool.called_by_make]
    # Programs whose banner has another name are left out: only Icarus, which is the default.
    banners = [name for tool in simulators.tools() for name in tool.called_by_make if name in tool.banners]
    tops = [rf"{name}\b.{{0,4000}}? --?(?:{'|'.join(options)})" for name in called if (options := _top_options(name))]
    return (
        re.compile(rf"(?:^|[/ \t])({'|'.join(called)}) +-", re.MULTILINE),
        re.compile(rf"Running on [^\n]{{0,80}}?\b((?i:{'|'.join(banners)}))\b"),
        re.compile(rf"\b(?:{'|'.join(tops)}) (\S+)"),
    )


def _top_options(program: str) -> list[str]:
    """Return a program's options that set the top, without their dashes."""
    separate = simulators.programs()[program].separate
    return [option.lstrip("-") for option, kind in separate.items() if kind == "top"]


def _follows(value: str, known: Collection[str]) -> bool:
    """Return whether a value in the Makefile refers to at least one variable, and to none outside `known`."""
    names = set(REFERENCE.findall(value))
    return bool(names) and names <= set(known)


def _solved(
    text: str, settings: Sequence[tuple[str, str, str]], names: Collection[str], log: str, shown: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of variables that follow from the commands in a log.

    For example, `-Pdut.WIDTH=$(WIDTH)` in the Makefile and `-Pdut.WIDTH=16` in the log give the width.
    """
    found: dict[str, str] = {}
    logged = set(log.split())
    folders = {value for name, _, value in settings if name == "SIM_BUILD"}
    for word in filter(REFERENCE.search, text.split()):
        wanted = [name for name in REFERENCE.findall(word) if name in names and name not in {*found, *shown}]
        if wanted and len(REFERENCE.sub("", word)) >= _LEAST_LITERAL:
            # If the build is up to date, the log shows only files in the build folder.
            values = values_in({os.path.dirname(each) for each in logged} if word in folders else logged, word)  # noqa: PTH120
            found |= {name: values[name] for name in wanted if values.get(name)}
    return found


def assignments(text: str, targets: Collection[str] = ()) -> list[tuple[str, str, str]]:
    """Return the name, operator and value of each assignment of a Makefile; the value of a `define` is left empty.

    Target-specific assignments (`sim: SIM = icarus`) are included for the given targets. A variable that a recipe sets
    for its command (`SIM=icarus vvp …`) is not an assignment.
    """
    return [each for each in statements(text, targets) if each[1]]


def statements(text: str, targets: Collection[str] = ()) -> list[tuple[str, str, str]]:
    """Return the assignments of a Makefile, as `assignments` does, with its conditions in between.

    An entry for a condition consists of the condition's line, an empty operator and an empty value.
    """
    found: list[tuple[str, str, str]] = []
    in_rule, depth = False, 0
    for line in text.split("\n"):
        is_defining = _DEFINE.match(line)
        if depth:
            depth += (is_defining is not None) - (_END_OF_DEFINE.match(line) is not None)
        elif in_rule and line.startswith("\t"):
            continue
        elif _IN_RULE.match(line):
            if line.strip():
                found.append((line.strip(), "", ""))
        elif is_defining:
            found.append((is_defining[1], is_defining[2] or "=", ""))
            in_rule, depth = False, 1
        elif set_here := _ASSIGNMENT.match(line):
            found.append(_assigned(set_here))
            in_rule = False
        else:
            rule = _OF_TARGETS.match(line)
            in_rule = rule is not None
            if rule and (set_here := _ASSIGNMENT.match(line, rule.end())) and _is_for(rule[1].split(), targets):
                found.append(_assigned(set_here))
    return found


def _assigned(match: re.Match[str]) -> tuple[str, str, str]:
    return match[1], match[2], match[3].strip(" \t")


def _is_for(names: Iterable[str], targets: Collection[str]) -> bool:
    """Return whether any of the given targets has one of the names, which may be patterns with `%`."""
    parts = (name.partition("%") for name in names)
    return any(
        each == start
        if not is_pattern
        else each.startswith(start) and each.endswith(end) and len(each) > len(start + end)
        for start, is_pattern, end in parts
        for each in targets
    )


def given_by_recipes(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each variable that a recipe sets only for its command."""
    for line in text.split("\n"):
        if line.startswith("\t"):
            for word in itertools.takewhile(lambda word: "=" in word, line.lstrip("\t @+-").split()):
                name, _, value = word.partition("=")
                yield name, value


def python_path(makefile: Path | None) -> tuple[str, ...]:
    """Return the folders where Python looks for modules if make runs a Makefile, as far as its text shows them."""
    if makefile is None:
        return ()
    folder = str(makefile.parent)
    lines = statements(text_of(makefile).replace("$(shell pwd)", "$(CURDIR)"))
    given = Evaluation(lines, {"PWD": folder, "CURDIR": folder, "PYTHONPATH": ""}, {}).value("PYTHONPATH") or ""
    further = (os.path.normpath(os.path.join(folder, part)) for part in given.split(":") if part)  # noqa: PTH118
    return tuple(dict.fromkeys((folder, *further)))  # cocotb puts its working directory first


def text_of(makefile: Path) -> str:
    """Return the text of a Makefile and its includes, without comments and with continued lines joined."""
    return "\n".join(texts_of(makefile).values())


def texts_of(makefile: Path) -> dict[Path, str]:
    """Return the texts of a Makefile and its includes by path, without comments and with continued lines joined."""
    texts: dict[Path, str] = {}
    waiting = [makefile]
    while waiting and len(texts) < _MOST_FILES:
        path = waiting.pop(0)
        if path not in texts:
            text = _OR.sub(r"\1", reading.start_of(path, HEAD).replace("\\\n", " "))
            texts[path] = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
            waiting += (path.parent / name for found in _INCLUDE.findall(text) for name in found.split())
    return texts
