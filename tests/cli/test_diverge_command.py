"""`schedlab diverge`: what it refuses before anything is built."""

from pathlib import Path

import pytest

from tests.helpers.fake_engine import FakeLab

BENCHMARK = ("--benchmark", "HackbenchPipeThreads:groups=1")
VARIANTS = ("base", "x: NO_WA_IDLE")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*VARIANTS,), "name what to run: --benchmark NAME or --workload FILE"),
        ((*VARIANTS, *BENCHMARK, "--workload", "load.json"), "name what to run"),
        (("base", "base: NO_WA_IDLE", *BENCHMARK), "both variants are called base"),
        ((*VARIANTS, "--workload", "none.json"), "'none.json' does not exist"),
        ((*VARIANTS, "--workload", "."), "is a directory"),
        ((*VARIANTS, "--workload", "empty.json"), "empty.json"),
        ((*VARIANTS, *BENCHMARK, "--output", "none/both.json"), "there is no folder 'none'"),
        ((*VARIANTS, *BENCHMARK, "--window", "nan"), "--window"),
        ((*VARIANTS, "--benchmark", "HackbenchPipe"), "HackbenchPipe"),
        ((*VARIANTS, *BENCHMARK, "--kernel", "nope"), "nope"),
    ],
)
def test_what_is_refused(
    lab: FakeLab,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("load.json").write_text('{"tasks": {"t": {"run": 1000}}}')
    Path("empty.json").write_text("")
    status, out, errors = lab.call("diverge", *words, "--machine", "smp4")
    assert (status, out) == (2, "")
    assert message in errors
