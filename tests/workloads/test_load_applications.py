"""Applications' models on this host: databases, servers, a build, an encoder."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from schedlab.base.errors import HostError
from schedlab.kernels.native import schedlab_load
from tests.helpers.patience import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def program() -> str:
    try:
        return str(schedlab_load())
    except HostError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "load",
    [
        "postgresql --clients 3 --threads 2",
        "postgresql --clients 5 --transactions tpcb",
        "mariadb --threads 3 --transactions read_only",
        "mariadb --threads 3 --transactions read_write",
        "mariadb --threads 5 --transactions read_write --handling pool",
        "nginx --workers 2 --threads 2 --connections 5",
        "memcached --workers 2 --threads 2 --connections 5",
    ],
)
def test_every_client_is_answered_and_all_end(program: str, load: str, tmp_path: Path) -> None:
    report = run(program, tmp_path, *load.split(), "--time", "60ms")
    assert report["requests"] > 0
    assert report["throughput"] == pytest.approx(report["requests"] / 0.06, rel=0.9)
    assert 0 < report["latency p50"] <= report["latency p99"]
    assert not list(tmp_path.iterdir())  # the log on disk has no name


def test_redis_ends_after_its_requests(program: str, tmp_path: Path) -> None:
    report = run(program, tmp_path, "redis", "--clients", "70", "--requests", "500")
    assert 500 <= report["requests"] < 500 + 70


def test_an_encoder_encodes_behind_the_frame_before(program: str, tmp_path: Path) -> None:
    assert run(program, tmp_path, "x264", "--frames", "5", "--threads", "3")["frames"] > 0


def test_a_log_that_cannot_be_written_is_named(program: str) -> None:
    done = subprocess.run(
        [program, "postgresql", "--time", "1ms"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/proc",
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode != 0
    assert "a log in the current folder: " in done.stderr


def run(program: str, folder: Path, *words: str) -> dict[str, float]:
    done = subprocess.run(
        [program, *words, "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        timeout=PATIENCE_SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return {result["name"]: result["value"] for result in json.loads(done.stdout)["results"]}
