"""Measures the reading of logs, on a large log of realistic lines with one failure in 100,000.

    python tests/bench/scan.py [--megabytes N] [--rounds N] [--folder DIR]

Prints
    scan      whole processes, in turn: `dvwiki scan` against `rg -c` with ten of the same expressions
    alone     `dvwiki scan` against its engine alone on the same file, and on an empty one
    memory    the most that a scan holds
    python    the engine in Python alone against one alternation of all expressions, tried on each line
    line      a line of 50 MB without a line feed against the same bytes in lines
    classify  one small log, caches warm: process time beyond that of Python's own start
    flood     the log of a cocotb test that prints much: its tests told apart, against reading its lines alone
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.simulations.regression import read_regressions
from pytest_dvwiki.logtext.logs import LogStream, LogText
from pytest_dvwiki.patterns.engines import load
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.sieve import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_dvwiki.patterns.engines import Engine

FAILURE_EVERY = 100_000
BLOCK = 500_000
"""Number of different lines; a larger log repeats them."""
SCAN: tuple[str | Path, ...] = (sys.executable, "-m", "pytest_dvwiki", "scan")


def usual(rng: random.Random, n: int) -> str:
    """Return a line without a failure; one in 50 contains words that failures also have."""
    pick, word = rng.randint, f"0x{rng.getrandbits(32):08x}"
    test = f"@ {n}000: uvm_test_top.env"
    if rng.random() < 0.02:
        return rng.choice(
            (
                f"UVM_INFO ../tb/sb.sv(120) {test}.sb [SB] compare: expected {word} actual {word}",
                f"UVM_WARNING ../tb/seq.sv(30) {test}.seqr [SEQ] response queue error is off",
                f"[{n}] error injection {pick(0, 9)} done, timeout set to {pick(100, 999)} cycles",
                f"[{n}] scoreboard: {pick(1, 99999)} compared, 0 mismatches, 0 errors",
            )
        )
    return rng.choice(
        (
            f"UVM_INFO ../tb/axi_driver.sv({pick(20, 300)}) {test}.drv [DRV] sent WRITE addr={word} len={pick(1, 16)}",
            f"UVM_INFO ../tb/axi_monitor.sv(88) {test}.mon [MON] collected id={pick(0, 255)} data={word} resp=OKAY",
            f"# ** Note: packet {n} transmitted on port {pick(0, 7)}, {pick(64, 1500)} bytes",
            f"[{n}] core {pick(0, 3)}: pc=0x{n:08x} instr={word} x{pick(1, 31)}=0x{rng.getrandbits(32):08x}",
            f"[{n}] mem_model: read of 0x{n:05x} returns {word}",
            f"tb.sv:{pick(1, 900)}: clock {pick(0, 9)} locked after {pick(1, 99)} cycles",
        )
    )


def failing(rng: random.Random, n: int) -> str:
    """Return a line that reports a failure."""
    word = f"{rng.getrandbits(16):04x}"
    return rng.choice(
        (
            f"UVM_ERROR ../tb/sb.sv(131) @ {n}000: uvm_test_top.env.sb [SB] expected 0x{word} actual 0x1{word}",
            f"# ** Error: Assertion error: overflow of port {rng.randint(0, 7)}",
            f"%Error: dut.sv:{rng.randint(1, 99)}: Assertion failed in top.dut: level",
        )
    )


def write_log(path: Path, megabytes: int) -> None:
    """Make the log."""
    rng = random.Random(1)
    lines = (failing(rng, n) if n % FAILURE_EVERY == FAILURE_EVERY - 1 else usual(rng, n) for n in range(BLOCK))
    block = ("\n".join(lines) + "\n").encode()
    with path.open("wb") as file:
        left = megabytes << 20
        while left > 0:
            left -= file.write(block)


def run(command: Sequence[str | Path]) -> tuple[float, float, int]:
    """Return the wall time and process time of a command, in seconds, and its peak memory, in kilobytes."""
    began = time.perf_counter()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:  # rg exits with 1 if no line matches
        raise subprocess.CalledProcessError(process.returncode, str(command[0]))
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def paired(name: str, one: Sequence[str | Path], other: Sequence[str | Path], rounds: int) -> None:
    """Run two commands in turn, and print the ratios of their times."""
    wall, process = [], []
    memory = 0
    for _ in range(rounds):
        first, second = run(one), run(other)
        wall.append(first[0] / second[0])
        process.append(first[1] / second[1])
        memory = max(memory, first[2])
        print(f"{name:8} {first[0]:.2f} s against {second[0]:.2f} s", file=sys.stderr)
    print(f"{name:8} ratio: median {statistics.median(wall):.2f}, of process time {statistics.median(process):.2f}")
    if name == "scan":
        print(f"memory   {memory >> 10} MB")


def plain(source: str) -> str:
    """Return an expression without the names of its groups, so that it can be joined with others."""
    return re.sub(r"\(\?P<\w+>", "(?:", source)


def megabytes_a_second(work: Callable[[bytes], object], data: bytes) -> float:
    """Return the speed of a reader."""
    began = time.process_time()
    work(data)
    return len(data) / 1e6 / (time.process_time() - began)


def exhaust(engine: Engine, data: bytes) -> None:
    """Consume all matches of an engine."""
    for _ in engine.offsets(data):
        pass


def compare_engines(log: Path, sources: Sequence[str]) -> None:
    """Print the speed of the engines next to that of one alternation."""
    data = log.open("rb").read(32 << 20)
    matcher = Matcher(load_registry())
    alternatives = (f"(?i:{source[4:]})" if source.startswith("(?i)") else f"(?:{source})" for source in sources)
    alternation = re.compile("|".join(alternatives).encode(), re.ASCII)

    def each_line(block: bytes) -> int:
        return sum(alternation.search(line) is not None for line in block.split(b"\n"))

    slow = megabytes_a_second(each_line, data[: 1 << 18])
    for name in ("python", "re2", "hyperscan"):
        try:
            engine = load(list(matcher.registry.triggers.rules), name=name)
        except ValueError as error:
            print(f"{name:8} {error}")
            continue
        exhaust(engine, data[: 1 << 20])
        speed = megabytes_a_second(functools.partial(exhaust, engine), data)
        print(f"{name:9}{speed:.1f} MB/s, {speed / slow:.0f} times the alternation's {slow:.3f} MB/s")


def expressions() -> Iterator[str]:
    """Yield all expressions that find failures."""
    for pattern in load_registry():
        if pattern.tier != "benign":
            yield from map(plain, pattern.match)


def compare_with_rg(log: Path, sources: Sequence[str], rounds: int) -> None:
    """Print the time of a scan next to that of rg."""
    rg = shutil.which("rg")
    if rg is None:
        print("scan     rg is not there: install ripgrep")
        run([*SCAN, log])
        return
    ten = sources[:: len(sources) // 10][:10]
    command: list[str | Path] = [rg, "-c", *(word for source in ten for word in ("-e", source)), log]
    run([*SCAN, log])
    paired("scan", [*SCAN, log], command, rounds)


def compare_with_engine(folder: Path, log: Path, rounds: int) -> None:
    """Print the time of a scan next to that of its engine alone."""
    triggers = load_registry().triggers
    engine = load((*triggers.rules, *watched(), *triggers.companions))
    (folder / "empty.log").write_text("\n")
    ratios, start = [], []
    for _ in range(rounds):
        began = time.process_time()
        with log.open("rb") as file:
            while data := file.read(1 << 20):
                exhaust(engine, data)
        alone = time.process_time() - began
        whole, empty = run([*SCAN, log])[1], run([*SCAN, folder / "empty.log"])[1]
        ratios.append(whole / alone)
        start.append((whole - empty) / alone)
        print(f"alone    {whole:.2f} s, of an empty file {empty:.2f} s, engine {alone:.2f} s", file=sys.stderr)
    print(f"alone    ratio of process time: median {statistics.median(ratios):.2f}, ", end="")
    print(f"beyond that of an empty file {statistics.median(start):.2f}")


def compare_lines(folder: Path, log: Path, rounds: int) -> None:
    """Print the time for one very long line."""
    data = log.open("rb").read(50_000_000)
    (folder / "lines.log").write_bytes(data)
    (folder / "line.log").write_bytes(data.replace(b"\n", b" "))
    paired("line", [*SCAN, folder / "line.log"], [*SCAN, folder / "lines.log"], rounds)


def time_classify(folder: Path, rounds: int) -> None:
    """Print the process time of one verdict."""
    small = folder / "small.log"
    small.write_text("compiling\n" * 50 + "dut.sv:16: syntax error\n")
    command: tuple[str | Path, ...] = (sys.executable, "-m", "pytest_dvwiki", "classify", small)
    run(command)
    beyond = [run(command)[1] - run([sys.executable, "-c", "pass"])[1] for _ in range(4 * rounds)]
    print(f"classify median {1000 * statistics.median(beyond):.0f} ms, least {1000 * min(beyond):.0f} ms")


def time_flood(folder: Path, rounds: int) -> None:
    """Print the time for assigning the output of a test that prints much to its tests."""
    path = folder / "flood.log"
    line = "  1234.00ns INFO     cocotb.tb                          packet {} was sent to port {}\n"
    block = "".join(line.format(n, n % 7) for n in range(20_000))
    begin = "     0.00ns INFO     cocotb.regression                  running test_a.test_x (1/1)\n"
    path.write_text(begin + block * 30, encoding="utf-8")
    log = LogText(source="log", path=path)
    matcher = Matcher(load_registry())
    ratios = []
    for _ in range(rounds):
        began = time.process_time()
        for _chunk in LogStream(log):
            pass
        read = time.process_time()
        read_regressions(log, matcher)
        ratios.append((time.process_time() - read) / (read - began))
    print(f"flood    ratio of process time: median {statistics.median(ratios):.2f}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the log is written; default: in memory where that is possible")
    options = parser.parse_args()
    place = options.folder or ("/dev/shm" if Path("/dev/shm").is_dir() else None)  # noqa: S108  # a new folder
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        log = folder / "sim.log"
        write_log(log, options.megabytes)
        sources = list(expressions())
        compare_with_rg(log, sources, options.rounds)
        compare_with_engine(folder, log, options.rounds)
        compare_engines(log, sources)
        compare_lines(folder, log, options.rounds)
        time_classify(folder, options.rounds)
        time_flood(folder, options.rounds)


if __name__ == "__main__":
    main()
