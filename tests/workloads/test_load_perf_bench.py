"""perf bench's sched messaging, futex wake, mem memset and numa mem as native programs."""

import pytest

from tests.helpers.load import refused, run, start


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


def test_processes_share_memory() -> None:
    words = ["-p", "2", "-t", "2", "-G", "4", "-P", "1", "-T", "1", "-l", "3"]
    done = start("numa-mem", *words)
    assert done.returncode == 0, done.stderr
    # Each of four threads three times over 4, 1 and 1 MiB.
    assert f"data processed, total: {4 * 3 * 6 * 2**20 / 1e9} GB\n" in done.stdout
    assert run("producer-consumer", pairs=2, size="64KiB", time="0.2s")["transfer rate"] > 0.01
    assert start("producer-consumer", "--threads", "--time=0.2").returncode == 0


def test_bad_parameters() -> None:
    assert '--nwakes: "0" is out of range: 1 to 100000' in refused("futex-wake", "-w", "0")
    assert '--nr_loops: "x": a whole number' in refused("sched-messaging", "-l", "x")
