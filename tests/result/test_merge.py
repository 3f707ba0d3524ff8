"""Results of several boots: what is paired, what is claimed, what is refused."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from schedlab.importers.files import import_file
from schedlab.judging.analysis import analyse
from schedlab.judging.verdict import Verdict
from schedlab.report import Report, all_shapes
from schedlab.result.boots import Boot, rounds
from schedlab.result.folder import DATABASE
from schedlab.result.merge import merge
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.emulated import emulated_host, program

OLD, NEW = "5.7.0-rc5+", "6.1.0"
PLAN = {
    "title": "Is the new kernel better?",
    "benchmark": [{"name": "SysBenchCpu"}],
    "variant": [
        {"name": "old", "boot": {"Kernel release": OLD}},
        {"name": "new", "boot": {"Kernel release": NEW}},
    ],
    "blocks": {"looks": [3], "warmup": 0},
    "counters": [],
}

Booted = Callable[..., Path]


@pytest.fixture
def booted(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Booted:
    """Return a function that boots the emulated host, runs the plan and gives the result."""

    monkeypatch.setattr("schedlab.report.write_reports", lambda _: [])  # not looked at here

    def run(number: int, kernel: str, **changes: Any) -> Path:
        # Each boot has its own luck of 3 % beside the kernel's effect of +20 %.
        luck = 1 + 0.03 * ((number * 7) % 5 - 2) / 2
        effect = {"file": "/proc/sys/kernel/osrelease", "holds": NEW, "times": 1.2}
        cpu = program(
            *("sysbench cpu", "sysbench-cpu", "4503.79"),
            value=1000.0 * luck, noise=0.001, effect=[effect],
        )  # fmt: skip
        host = emulated_host(tmp_path / f"host{number}", programs=[cpu], seed=number)
        (host / "root/proc/sys/kernel/osrelease").write_text(f"{kernel}\n")
        (host / "root/proc/sys/kernel/random/boot_id").write_text(f"boot-{number}\n")
        for name, text in changes.pop("files", {}).items():
            (host / "root" / name).write_text(text)
        plan = tmp_path / f"plan{number}.toml"
        plan.write_text(tomli_w.dumps({**PLAN, **changes}))
        out = tmp_path / f"result{number}"
        # One host under one name, whichever folder emulates it.
        link = tmp_path / "host"
        link.unlink(missing_ok=True)
        link.symlink_to(host)
        status, _, err = cli("run", plan, "--target", f"emulated:{link}", "--output", out)
        assert status == 0, err
        return out

    return run


def verdict(folder: Path) -> Verdict:
    [outcome] = analyse(Store.open(folder)).outcomes
    return outcome.verdict


def test_a_boot_runs_the_variants_it_is_booted_for(booted: Booted) -> None:
    store = Store.open(booted(1, NEW))
    assert [(r.key.variant, r.key.block) for r in store.records()] == [
        ("new", 0),
        ("new", 1),
        ("new", 2),
    ]
    assert store.boots == [Boot("boot-1", 0)]
    report = Report(store, analyse(store))
    assert "This boot is none of old: merge its result" in report.banners[1]


def test_a_boot_that_is_none_of_them(booted: Booted) -> None:
    with pytest.raises(AssertionError, match="no variant of the plan fits this boot: old is for"):
        booted(1, "4.19")


def test_six_boots_of_each_are_evidence(booted: Booted, cli: Cli, tmp_path: Path) -> None:
    order = [OLD, NEW, NEW, OLD] * 3
    results = [booted(number, kernel) for number, kernel in enumerate(order, 1)]
    out = tmp_path / "merged"
    status, text, err = cli("merge", *results, "--output", out)
    assert status == 0, err
    assert "Merged from 12 boots" in text
    found = verdict(out)
    assert (found.word, found.n, found.unit) == ("better", (6, 6), "boot")
    assert found.effect == pytest.approx(0.2, abs=0.03)
    store = Store.open(out)
    assert len(store.records()) == 36, "every run is kept"
    assert store.environment["Kernel release"] == f"{OLD} / {NEW}"
    assert (out / store.records()[0].raw / "stdout.txt").exists()
    for name, shape in all_shapes().items():
        page = shape.render(Report(store, analyse(store)))
        assert "boots" in page or name in ("csv", "json"), name
        if name == "terminal":
            continue
        path = tmp_path / f"{name}.{shape.suffix}"
        path.write_text(page)
        back = import_file(path, tmp_path / f"back-{name}", "")
        if name in ("lkml", "summary", "mmtests", "intel"):
            assert "no verdict possible" in verdict(back.folder).note, name
            assert verdict(back.folder).effect == pytest.approx(found.effect, abs=1e-4)
        else:
            assert (back.boots, verdict(back.folder)) == (store.boots, found), name


def test_one_boot_each_is_confounded(booted: Booted, cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "merged"
    status, text, err = cli("merge", booted(1, OLD), booted(2, NEW), "--output", out)
    assert status == 0, err
    found = verdict(out)
    assert (found.word, found.n, found.settled) == ("can't tell", (1, 1), False)
    assert found.note == "confounded: old and new had one boot each, not the same"
    assert "confounded" in text


def test_variants_at_the_same_boots_are_paired_there(booted: Booted, tmp_path: Path) -> None:
    both = [{"name": "a", "env": {"X": "1"}}, {"name": "b", "env": {"X": "2"}}]
    results = [booted(n, OLD, variant=both) for n in range(1, 7)]
    stores = [Store.open(result) for result in results]
    found = analyse(merge(stores, tmp_path / "merged", [6], "")).outcomes[0].verdict
    assert (found.word, found.n) == ("equivalent", (6, 6))
    assert found.noise is not None and found.noise < 0.01, "the boots' luck is in both"


def test_what_does_not_go_together(booted: Booted, cli: Cli, tmp_path: Path) -> None:
    first, other = booted(1, OLD), booted(2, NEW, benchmark=[{"name": "SysBenchCpu", "label": "x"}])
    elsewhere = booted(3, NEW, files={"proc/sys/kernel/hostname": "another\n"})
    changed = booted(4, NEW, files={"proc/cmdline": "quiet\n"})
    copy = shutil.copytree(first, tmp_path / "zcopy")
    for folders, why in (
        ([first], "name the results of two boots"),
        ([first, other], "`benchmark` differs"),
        ([first, elsewhere], "Node name is another, not emulated"),
        ([first, tmp_path], "not a result folder"),
        ([first, changed, first], "which would count twice"),
        ([first, changed, copy], f"{first} has as well"),
    ):
        status, _, err = cli("merge", *folders, "--output", tmp_path / "out")
        assert (status, why in err) == (2, True), err
        assert not (tmp_path / "out").exists()
    status, _, err = cli("merge", first, changed, "--looks", "0", "--output", tmp_path / "out")
    assert (status, "'--looks': 0 is not in the range" in err) == (2, True), err
    assert not (tmp_path / "out").exists()
    status, text, _ = cli("merge", first, changed, "--output", tmp_path / "out")
    assert status == 0
    status, _, err = cli("run", "--resume", tmp_path / "out")
    assert (status, "was merged from results of several boots" in err) == (2, True), err
    assert "Kernel command line was not the same at every boot" in " ".join(text.split())


def test_rounds() -> None:
    def of(*at: str) -> dict[str, int]:
        runs = [(str(boot), variant) for boot, variants in enumerate(at) for variant in variants]
        return rounds(runs, "AB")

    assert of("A", "B", "B", "A") == {"0": 0, "1": 0, "2": 1, "3": 1}
    assert of("A", "A", "B", "B") == {"0": 0, "1": 1, "2": 0, "3": 1}
    assert of("AB", "A", "AB") == {"0": 0, "1": 2, "2": 1}, "what is not whole comes last"
    assert of("AB", "A", "AB", "B") == {"0": 0, "1": 1, "2": 2, "3": 1}


def test_boots_without_a_benchmark_in_common_are_refused(
    cli: Cli, booted: Booted, tmp_path: Path
) -> None:
    for number, kernel in enumerate((OLD, NEW)):
        booted(number, kernel)
    folders = [tmp_path / f"result{number}" for number in (0, 1)]
    with closing(sqlite3.connect(folders[1] / DATABASE)) as db, db:
        db.execute(
            "UPDATE about SET value = replace(value, 'sysbench', 'sysbench --fitted') "
            "WHERE key = 'cases'"
        )
    status, _, err = cli("merge", *folders, "--output", tmp_path / "out")
    assert status == 2
    assert err.startswith("schedlab: merge: no benchmark is the same at every boot:\n  SysBenchCpu")
    assert "give its sizes as numbers" in err
    assert not (tmp_path / "out").exists()
