"""Tests logs behind URLs and on a Dask cluster, with a real server and a real scheduler that loses a worker."""

from __future__ import annotations

import contextlib
import functools
import getpass
import gzip
import http.server
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.capture.files.sources import find_sources
from pytest_dvwiki.cli import main
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.pipeline.farm import Farm
from pytest_dvwiki.pipeline.scan import scan_file, scan_files
from pytest_dvwiki.triage.texts.reading import TextClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
MISMATCH = "UVM_ERROR sb.sv(210) @ {}: uvm_test_top.env.sb [SB] expected 0x{:x} got 0x1{:x}\n"


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("nightly").mkdir()
    for number in range(6):
        Path(f"nightly/{number}.log").write_text("ok\n" * 50 + MISMATCH.format(number, number, number))
    with zipfile.ZipFile("nightly/old.zip", "w") as archive:
        archive.write("nightly/3.log", "3.log")
    return tmp_path


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    """Reset the variables that Dask's cluster sets for its workers; else they would appear in other tests' commands."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]


@pytest.fixture
def server(logs: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(logs))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


class DiesOnce(TextClassifier):
    """Kills the first process that reads the second log."""

    def __init__(self, mark: str) -> None:
        super().__init__(load_registry())
        self._mark = Path(mark)

    def conclude(self, found: Any) -> Any:
        reading = super().conclude(found)
        if reading.verdict is not None and " @ 2: " in reading.verdict.primary and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return reading


def test_a_killed_worker_s_file_is_read_by_another_one(logs: Path) -> None:
    distributed = pytest.importorskip("distributed")
    sources = find_sources(["nightly"]).files
    mark = logs / "died"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        make = functools.partial(DiesOnce, str(mark))
        found = list(scan_files(sources, make, Farm(2, dask=True, scheduler=cluster.scheduler_address)))
    assert mark.exists()
    classifier = TextClassifier(load_registry())
    assert found == [scan_file(source, classifier) for source in sources]


@pytest.mark.further_mode
def test_the_cluster_prints_what_this_process_prints(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    said, environment = [], dict(os.environ)
    with socket.socket() as other:
        with contextlib.suppress(OSError):
            other.bind(("127.0.0.1", 8787))  # another cluster on this machine may use Dask's default port
            other.listen()
        for words in (["--jobs", "1"], ["--engine", "dask", "--jobs", "2"]):
            assert main(["scan", "nightly", *words]) == 0
            said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].startswith("7 logs, ")
    assert dict(os.environ) == environment


def test_a_scheduler_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert main(["scan", "nightly", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "tcp://127.0.0.1:9 cannot be used" in capsys.readouterr().err
    assert main(["scan", "nightly", "--scheduler", "lsf"]) == 2
    assert "add --engine dask" in capsys.readouterr().err


def test_logs_behind_urls_are_read_as_those_on_disk(
    server: str, logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fsspec")
    there = (f"{server}/nightly/2.log", f"{server}/nightly/old.zip", f"zip://*.log::file://{logs}/nightly/old.zip")
    assert main(["scan", *there]) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 logs, ")
    assert f"{server}/nightly/2.log:51" in out
    assert main(["scan", f"{server}/nightly/7.log", f"{server}/nightly/1.log"]) == 1
    told = capsys.readouterr()
    assert f"{server}/nightly/7.log: no such file" in told.err
    assert told.out.startswith("1 log, ")
    assert main(["scan", "nowhere://x/y.log"]) == 1
    assert "nowhere://x/y.log: cannot be read: " in capsys.readouterr().err


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run a local S3 server with an empty bucket."""
    boto3 = pytest.importorskip("boto3")
    pytest.importorskip("s3fs")
    moto = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    boto3.client("s3").create_bucket(Bucket="regressions")
    yield "regressions"
    moto.stop()


@pytest.mark.further_mode
def test_logs_in_s3_are_read_as_those_on_disk(bucket: str, logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = pytest.importorskip("boto3").client("s3")
    for path in sorted(logs.glob("nightly/*")):
        store.upload_file(str(path), bucket, f"2026-11-21/{path.name}")
    assert main(["scan", "nightly"]) == 0
    here = capsys.readouterr().out
    assert main(["scan", f"s3://{bucket}/2026-11-21/"]) == 0
    assert capsys.readouterr().out == here.replace("nightly/", f"s3://{bucket}/2026-11-21/")
    assert main(["scan", f"s3://{bucket}/**/*.log", f"zip://*.log::s3://{bucket}/2026-11-21/old.zip"]) == 0
    assert capsys.readouterr().out.startswith("7 logs, ")
    root = logs / "remote"
    root.mkdir()
    assert main(["ingest", f"s3://{bucket}/2026-11-21/", "--task", "nightly", "--root", str(root)]) == 0
    assert "1 cause" in capsys.readouterr().out
    assert main(["scan", f"s3://{bucket}/none.log", "s3://nobody/x.log"]) == 1
    told = capsys.readouterr().err
    assert f"s3://{bucket}/none.log: no such file" in told
    assert "s3://nobody/x.log: " in told


@pytest.mark.further_mode
def test_the_commands_of_the_documentation_run(bucket: str, server: str, logs: Path, tmp_path: Path) -> None:
    """Only the options of batch systems are tested; local workers replace their jobs."""
    distributed = pytest.importorskip("distributed")
    store = pytest.importorskip("boto3").client("s3")
    (logs / "run_17").mkdir()
    shutil.copyfile(logs / "nightly/1.log", logs / "run_17/sim.log")
    with gzip.open(logs / "1.log.gz", "wb") as packed:
        packed.write((logs / "nightly/1.log").read_bytes())
    for name, path in (("2026-11-21/a/1.log.gz", "1.log.gz"), ("2026-11-21.zip", "nightly/old.zip")):
        store.upload_file(str(logs / path), bucket, name)
    calls = re.findall(r"^\$ dvwiki ([^#\n]+)", (ROOT / "docs" / "farm.md").read_text("utf-8"), re.MULTILINE)
    assert len(calls) == 11
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        for call in calls:
            there = call.replace("https://ci.example.com/artifacts", server)
            there = re.sub(r"--scheduler \S+", f"--scheduler {cluster.scheduler_address}", there)
            assert main(shlex.split(there)) == 0, call


SLURM = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=2000
PartitionName=all Nodes={host} Default=YES
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a local Slurm: its controller, and one node with two CPUs."""
    daemons = [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("slurmctld", "slurmd")]
    if None in daemons:
        pytest.skip("needs Slurm, on Debian `apt-get install slurm-wlm`")
    pytest.importorskip("dask_jobqueue")
    folder = tmp_path / "slurm"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = [each.getsockname()[1] for each in (one, two)]
    host = socket.gethostname().partition(".")[0]
    text = SLURM.format(folder=folder, host=host, user=getpass.getuser(), ports=ports)
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    monkeypatch.setenv("DASK_JOBQUEUE__SLURM__INTERFACE", "lo")
    monkeypatch.setenv("DASK_JOBQUEUE__SLURM__SCHEDULER_OPTIONS", "{'dashboard_address': '127.0.0.1:0'}")
    log = (folder / "log").open("wb")
    started = [subprocess.Popen([str(each), "-D"], stdout=log, stderr=log) for each in daemons]
    try:
        for _ in range(60):
            if (
                "idle"
                in subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False).stdout
            ):
                break
            time.sleep(0.5)
        else:
            pytest.fail((folder / "log").read_text("utf-8", "replace"))
        yield
    finally:
        for each in reversed(started):
            each.terminate()
            each.wait(timeout=30)
        log.close()


@pytest.mark.further_mode
def test_jobs_of_slurm_read_what_this_process_reads(slurm: None) -> None:
    def scan(*words: str, **jobs: str) -> subprocess.CompletedProcess[str]:
        wanted = {f"DASK_JOBQUEUE__SLURM__{name.upper()}": value for name, value in jobs.items()}
        return subprocess.run(
            [sys.executable, "-m", "pytest_dvwiki", "scan", "nightly", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, **wanted},
        )

    farm = ["--engine", "dask", "--scheduler", "slurm", "--jobs", "2"]
    unset, refused = scan(*farm), scan(*farm, cores="1", memory="4GB")
    assert (unset.returncode, refused.returncode) == (2, 2)
    assert "how much cores and memory per job you want to use: in dask-jobqueue's configuration" in unset.stderr
    told = "dvwiki scan: slurm cannot be used: sbatch: error: Batch job submission failed: Requested node configuration"
    assert refused.stderr.startswith(told)
    here, there = scan("--jobs", "1"), scan(*farm, cores="1", memory="500MB")
    assert here.stdout.startswith("7 logs, ")
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout), there.stderr
    assert len(list(Path().glob("slurm-*.out"))) == 2, "each job leaves its output"


UVM = """UVM_INFO @ 0: reporter [RNTST] Running test burst_test...
UVM_ERROR sb.sv(21) @ {0}0: uvm_test_top.sb [SCBD] got {0}, expected 9
--- UVM Report Summary ---
"""


@pytest.mark.parametrize(
    "farm",
    [
        pytest.param(["--jobs", "2"], id="processes"),
        pytest.param(["--engine", "dask", "--jobs", "2"], id="dask", marks=pytest.mark.further_mode),
    ],
)
def test_ingest_archives_the_same_from_a_farm_and_a_server(
    server: str, logs: Path, capsys: pytest.CaptureFixture[str], farm: list[str]
) -> None:
    pytest.importorskip("distributed")
    for seed in range(4):
        log = logs / "uvm" / f"burst_test.{seed}" / "run.log"
        log.parent.mkdir(parents=True)
        log.write_text(UVM.format(seed))
        os.utime(log, (1_800_000_000, 1_800_000_000))
    records = []
    for number, words in enumerate((["uvm"], ["uvm", *farm])):
        root = logs / f"root{number}"
        root.mkdir()
        assert main(["ingest", *words, "--task", "nightly", "--root", str(root)]) == 0
        (path,) = root.glob(".agent/tasks/2*/*/*.yaml")
        records.append((path.name, path.read_bytes()))
    assert records[0] == records[1]
    assert capsys.readouterr().out.count("nightly: 4 runs of 1 test, 4 failed, 1 cause") == 2
    root = logs / "remote"
    root.mkdir()
    there = [f"{server}/uvm/burst_test.{seed}/run.log" for seed in range(4)]
    assert main(["ingest", *there, f"{server}/none.log", "--task", "nightly", "--root", str(root)]) == 1
    told = capsys.readouterr()
    assert "4 runs of 1 test, 4 failed, 1 cause" in told.out
    assert f"{server}/none.log: no such file" in told.err
