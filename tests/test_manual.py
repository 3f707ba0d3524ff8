"""Every command of README and the manual works, typed into an installed schedlab.

Cheap ones are carried out; runs are, with --dry-run, up to the first one.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from schedlab.cli import schedlab
from tests.helpers import builds
from tests.helpers.manual import HOST, ROOT, Desk, Documented, documented

COMMANDS = documented()
PLACEHOLDERS = {
    "trace ... ": "trace smp4 --benchmark HackbenchPipeThreads:groups=1,loops=9 --output trace ",
    "merge boot1 boot2 ... ": "merge boot1 boot2 ",
    "results/...": "results/A",
    " ...": "",
    "--output DIR": "--output made",
    " DIR": " results/A",
    "compare A B": "compare results/A results/B",
    " NAME": " smp4",
    " FILE": " drawn.html",
    "--cluster tcp://HEAD:8786": "",
    "-w 8 -i 10,12,14 -a 16  ": "-w 1 -i 2,3 -a 4  ",
}
"""What a reader puts in place of them."""
LONG = {
    "runtime=8s": "runtime=20ms",
    "groups=2,loops=50": "groups=1,loops=9",
    "groups=2,loops=300": "groups=1,loops=9",
    "groups=16,loops=100": "groups=1,loops=9",
}
"""Sizes that take more than a moment; a small one shows that the command is right."""
ELSEWHERE = {
    "schedlab kernel add --debian": "downloads; `make test` does it before the tests",
    'schedlab kernel add --tree "$tree"': "of a script; tests/kernels has trees of all kinds",
    "schedlab kernel boot-image": "builds a whole kernel",
    "schedlab scx add --tree ~/scx": "needs a clone; tests/targets/test_sim_run.py",
    "schedlab doctor --restore": "changes this host; tests/cli/test_doctor_command.py",
    "schedlab run --target vm:": "boots a guest; tests/targets/test_vm.py",
    **{
        f"schedlab run {plan}": "needs Linux 7.3, of which a build takes too long here"
        for plan in ("cache-aware", "cgroup-mode", "preempt-lazy", "two-years")
    },
    "schedlab run --target sim:ryzen-5950x --benchmark SchbenchOld": "needs Linux 7.3",
    "schedlab run --target sim:ivb-ep-2p --benchmark": "needs Linux 7.3",
    "schedlab run --target sim:kunpeng-920-6426-2p --benchmark HackbenchForkSockets": "the same",
    **{
        f"schedlab run {how}": "needs Linux 7.3 with patches (docs/studies/on-7.3.md)"
        for how in (
            "group-util-kunpeng --blocks 6",
            "menu-polling-power10 --blocks 6",
            "newidle-cost-thx2 --only hackbench-1-groups",
            "numa-affinity-epyc --blocks 6",
            "numa-imbalance-epyc --blocks 6",
            "spread-llc-hikey --blocks 6",
            "ttwu-pending-vm --blocks 6",
            "wakelist-idle-xeon --only hackbench-1-group --blocks 6",
            "--target sim:kunpeng-920-2p --blocks 6",
            "--target sim:spr-8480-1p --blocks 6",
            "--target sim:xeon-8269cy-2p --blocks 6",
        )
    },
    "schedlab trace ryzen-5950x": "needs Linux 7.3",
    "schedlab kernel build tickless": "needs Linux 7.3",
    "schedlab run --target sim:smt8 --kernel tickless": "needs Linux 7.3",
    "schedlab kernel build has-a-bug": "tests/lab/checks/test_corpus.py builds it",
    "schedlab run --target sim:smt8 --benchmark Schbench --benchmark": "of a script for CI",
    "schedlab run RESULT/plan.toml": "needs that result; tests/lab/test_repeat.py",
    "schedlab run --target sim:smt8 --kernel 6.12 --benchmark HackbenchForkPipes": (
        "builds a kernel with sched_ext; tests/engine/test_scx.py"
    ),
    "schedlab diverge 'eevdf: kernel=6.12'": "builds the same",
    "schedlab run --client": "needs another machine; tests/targets/test_client.py",
    "schedlab boots": "boots machines; tests/lab/test_boots.py",
    "schedlab check": "builds a kernel for each bug; tests/lab/checks/test_corpus.py",
    "schedlab bisect": "needs a git tree; tests/lab/bisecting/test_bisect.py",
    "schedlab series": "needs a series of patches; tests/lab/test_series.py",
    "schedlab record": "needs root and tracepoints; tests/lab/recording/test_recorder.py",
    "schedlab workload import server.gz": "needs that recording",
    "schedlab workload import redis.gz": "needs a recording of this host",
    "schedlab workload trim redis.slw": "needs the same",
    "schedlab workload scale short.slw": "needs the same",
    "schedlab run story.toml": "needs the same",
    "schedlab validate": "measures this host for minutes; tests/lab/accuracy/test_accuracy.py",
}
"""Commands of which only the words are checked, and why."""
OF_OTHER_TREES = re.compile(r"(--base |--kernel |kernel=)\S*7\.3\b")
"""The same of commands on Linux 7.3, of which a build takes too long here."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Install schedlab into a folder, as from a wheel, and lay out a desk beside it."""
    folder = tmp_path_factory.mktemp("manual")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    pip += ["--no-build-isolation"]
    installed = subprocess.run(
        [*pip, "--target", str(folder / "package"), str(builds.ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr
    made = Desk(folder / "desk", folder / "package")
    yield made
    made.close()


def typed(command: Documented) -> str:
    """Return the command as typed at the desk."""
    text = command.text
    for old, new in {**PLACEHOLDERS, **LONG}.items():
        text = text.replace(old, new)
    if "ssh:" in text:
        text = text.replace("NO_WA_IDLE", "env SIZE=1")  # that host is this one: it has what it has
    words = text.partition("  # ")[0].split()
    line = " ".join(words)
    if words[1] in ("run", "cpuidle-smt") and "--resume" not in words:
        shipped = words[1] == "run" and re.fullmatch(r"[a-z][a-z0-9-]*", words[2])
        if "--target" not in words and not shipped:
            line += f" --target {HOST}"
        line += " --dry-run" if "--dry-run" not in words else ""
    return line


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: f"{c.page}:{c.line}")
def test_a_documented_command_works(desk: Desk, command: Documented) -> None:
    elsewhere = any(command.text.startswith(start) for start in ELSEWHERE)
    if elsewhere or OF_OTHER_TREES.search(command.text):
        words = command.text.split("#")[0].split()[1:]
        assert unknown_words(words) == []
        return
    line = typed(command)
    done = desk.run(line)
    for left in ("made", "results/imported"):  # several pages have commands that make them
        shutil.rmtree(desk.folder / left, ignore_errors=True)
    assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


INLINE = re.compile(r"`schedlab ([^`]+)`")


def mentioned() -> list[tuple[str, str]]:
    """Return every command that stands in a sentence: of a page, or of a message of ours."""
    places = [builds.ROOT / "README.md", *(builds.ROOT / "docs").rglob("*.md")]
    places += (builds.ROOT / "schedlab").rglob("*.py")
    return [
        (f"{place.relative_to(builds.ROOT)}", found[1])
        for place in sorted(places)
        for found in INLINE.finditer(place.read_text())
    ]


def unknown_words(words: list[str]) -> list[str]:
    """Return the sub-commands and options among words that schedlab does not have.

    What stands behind "--" is another program's.
    """
    words = words[: words.index("--")] if "--" in words else words
    command: click.Command = schedlab
    context = command.make_context("schedlab", [], resilient_parsing=True)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        if words[0] not in command.list_commands(context):
            if not hasattr(command, "default"):
                return words[:1]
            words = [command.default, *words]
        found = command.get_command(context, words[0])
        assert found
        command, words = found, words[1:]
    options = {name for param in command.get_params(context) for name in param.opts}
    given = [word.partition("=")[0] for word in words if word.startswith("-")]
    return [word for word in given if word not in options]


@pytest.mark.parametrize("place", sorted({place for place, _ in mentioned()}))
def test_a_mentioned_command_exists(place: str) -> None:
    for where, text in mentioned():
        if where == place and not text.startswith("{"):
            assert unknown_words(text.split()) == [], f"{place}: `schedlab {text}`"


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_the_workflow_of_the_manual_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs/manual/check.md").read_text()
    [workflow] = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "check.yml").write_text(workflow)
    done = subprocess.run(
        ["actionlint", str(tmp_path / "check.yml")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
