"""perf bench's sched messaging, futex wake and mem memset as native programs."""

import pytest

from tests.load import refused, run, start


@pytest.mark.parametrize("words", [["-p", "-t"], ["--pipe"], ["-t"], []])
def test_messaging(words: list[str]) -> None:
    done = start("sched-messaging", "--group", "1", "-l", "5", *words)
    assert done.returncode == 0, done.stderr
    assert "messages: 2000\n" in done.stdout


def test_futex_wake_wakes_all_threads() -> None:
    done = start("futex-wake", "-t", "6", "-w", "2", "-r", "2")
    assert done.returncode == 0, done.stderr
    assert "threads: 6\n" in done.stdout


def test_memset() -> None:
    assert run("mem-memset", size="4MiB")["bandwidth"] > 0.1


def test_bad_parameters() -> None:
    assert '--nwakes: "0" is out of range: 1 to 100000' in refused("futex-wake", "-w", "0")
    assert '--nr_loops: "x": a whole number' in refused("sched-messaging", "-l", "x")
