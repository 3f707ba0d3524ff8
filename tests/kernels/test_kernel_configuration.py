"""`schedlab kernel build --config`: what of a configuration is used, noted, refused."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from schedlab.base.series import TESTED
from schedlab.kernels.configuration import MODELS, _find
from schedlab.kernels.engine import find_engine
from tests.helpers.fake_engine import FakeLab
from tests.helpers.kernel_source import kernel_source

ENGINE = Path(__file__).resolve().parents[2] / "engine"
DOCS = ENGINE.parent / "docs/manual/kernels.md"


@pytest.fixture
def lab(bare_lab: FakeLab) -> FakeLab:
    """A lab whose engine knows the real one's options, and whose tree has one of them."""
    lab = bare_lab
    shutil.copy(ENGINE / "options.toml", lab.engine)
    shutil.copytree(ENGINE / "configs", lab.engine / "configs")
    (lab.engine / "include").mkdir()
    shutil.copy(ENGINE / "include/autoconf.h.in", lab.engine / "include")
    core = lab.tree / "kernel/sched/core.c"
    core.write_text("#ifdef CONFIG_SCHED_AUTOGROUP\n#endif\n#ifdef CONFIG_CFS_BANDWIDTH\n#endif\n")
    lab.add_tree()
    return lab


def build(lab: FakeLab, text: str, *words: str, name: str = "other") -> tuple[int, str, str]:
    """Build with a fragment."""
    file = lab.folder / "my.config"
    file.write_text(text)
    return lab.call("kernel", "build", name, "--base", "6.12", "--config", file, *words)


def test_a_fragment_is_the_builds_configuration_and_part_of_its_identity(lab: FakeLab) -> None:
    text = "# ours\nCONFIG_HZ_1000=y\nCONFIG_PREEMPT=y\nCONFIG_EXT4_FS=m\n"
    text += "# CONFIG_SCHED_AUTOGROUP is not set\n"
    status, out, errors = build(lab, text)
    assert status == 0, errors
    line = "HZ=1000, PREEMPT=full, SCHED_AUTOGROUP=n, as my.config"
    assert f"other: Linux 6.12.7, {line}," in out
    assert "not simulated" not in errors, "a file system is not simulated anyway"
    assert f"configuration  {line}" in lab.call("kernel", "show", "other")[1]
    assert line in lab.call("kernel", "list")[1]
    key = re.search(r"build (\w+)", out)
    _, out, _ = build(lab, text.replace("SCHED_AUTOGROUP is", "NUMA_EMU is"), name="more")
    assert key and key[1] not in out, "with autogroups it is another build"


def test_without_a_difference_it_is_the_same_build(lab: FakeLab) -> None:
    plain = re.search(r"build (\w+)", lab.call("kernel", "build", "6.12")[1])
    _, out, errors = build(
        lab, "CONFIG_HZ_250=y\nCONFIG_SCHED_AUTOGROUP=y\nCONFIG_PREEMPT_VOLUNTARY=y\n"
    )
    assert plain and plain[1] in out, errors


def test_what_it_has_and_the_simulator_does_not_is_told(lab: FakeLab) -> None:
    text = "CONFIG_RSEQ=y\nCONFIG_RSEQ_SLICE_EXTENSION=y\nCONFIG_SCHED_DEBUG=n\nCONFIG_CPUSETS=n\n"
    _, _, errors = build(lab, text)
    left_out = "RSEQ, RSEQ_SLICE_EXTENSION, SCHED_DEBUG=n"
    assert f"my.config: not simulated: {left_out} (docs/manual/kernels.md" in errors
    assert f"not simulated  {left_out}" in lab.call("kernel", "show", "other")[1]
    _, _, errors = build(lab, "CONFIG_UCLAMP_BUCKETS_COUNT=20\nCONFIG_X86=n\nCONFIG_NR_CPUS=1024\n")
    assert "not simulated: UCLAMP_BUCKETS_COUNT=20, X86=n (docs" in errors
    _, _, errors = build(lab, "CONFIG_SCHED_CACHE=y\n")
    assert "not simulated: SCHED_CACHE" in errors, "this tree has no such thing"


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("CONFIG_HZ_100=y\nCONFIG_HZ_250=y\n", (), "HZ=100 and CONFIG_HZ=250 contradict"),
        ("CONFIG_HZ=300\nCONFIG_HZ_250=y\n", (), "HZ=250 and CONFIG_HZ=300 contradict"),
        (
            "CONFIG_PREEMPT=y\nCONFIG_PREEMPT_LAZY=y\n",
            (),
            "CONFIG_PREEMPT_LAZY=y and CONFIG_PREEMPT=y",
        ),
        (
            "CONFIG_CPUSETS=y\nCONFIG_CPUSETS=n\n",
            (),
            "CONFIG_CPUSETS=y and CONFIG_CPUSETS=n contradict",
        ),
        (
            "CONFIG_UCLAMP_TASK=n\nCONFIG_UCLAMP_TASK_GROUP=y\n",
            (),
            "UCLAMP_TASK_GROUP needs UCLAMP_TASK",
        ),
        ("CONFIG_SMP=n\n", (), "CONFIG_SMP=n cannot be simulated: the simulator has several CPUs"),
        ("CONFIG_PREEMPT_RT=y\n", (), "CONFIG_PREEMPT_RT=y cannot be simulated"),
        (
            "CONFIG_SCHED_PROXY_EXEC=y\n",
            (),
            "CONFIG_SCHED_PROXY_EXEC=y: this kernel has no such option: it is younger",
        ),
        (
            "CONFIG_SCHED_PROXY_EXEC=y\nCONFIG_SCHED_CLASS_EXT=y\n",
            (),
            "CONFIG_SCHED_PROXY_EXEC=y and CONFIG_SCHED_CLASS_EXT=y contradict each other",
        ),
        (
            "CONFIG_NO_HZ_FULL=y\nCONFIG_CONTEXT_TRACKING_USER=n\n",
            (),
            "CONFIG_NO_HZ_FULL=y and CONFIG_CONTEXT_TRACKING_USER=n contradict each other:"
            " NO_HZ_FULL comes with CONTEXT_TRACKING_USER.",
        ),
        (
            "CONFIG_NO_HZ_FULL=y\nCONFIG_RCU_NOCB_CPU=n\n",
            (),
            "CONFIG_NO_HZ_FULL=y and CONFIG_RCU_NOCB_CPU=n contradict each other:"
            " NO_HZ_FULL needs RCU_NOCB_CPU",
        ),
        (
            "CONFIG_PREEMPT=y\nCONFIG_PREEMPTION=n\n",
            (),
            "CONFIG_PREEMPT=y and CONFIG_PREEMPTION=n contradict each other",
        ),
        (
            "CONFIG_SCHED_MM_CID=y\nCONFIG_RSEQ=n\n",
            (),
            "CONFIG_SCHED_MM_CID=y and CONFIG_RSEQ=n contradict each other",
        ),
        (
            "CONFIG_PROVE_LOCKING=y\nCONFIG_LOCKDEP=n\n",
            (),
            "CONFIG_PROVE_LOCKING=y and CONFIG_LOCKDEP=n contradict each other",
        ),
        (
            "CONFIG_SCHED_PROXY_EXEC=y\n# CONFIG_EXPERT is not set\n",
            (),
            "contradict each other: SCHED_PROXY_EXEC needs EXPERT",
        ),
        (
            "CONFIG_NO_HZ_IDLE=n\nCONFIG_HZ_PERIODIC=n\n",
            (),
            "my.config: CONFIG_NO_HZ_IDLE=n, and none of NO_HZ_FULL and HZ_PERIODIC is chosen.",
        ),
        (
            "CONFIG_NO_HZ_FULL=y\n# CONFIG_VIRT_CPU_ACCOUNTING_GEN is not set\n",
            (),
            "CONFIG_NO_HZ_FULL=y and CONFIG_VIRT_CPU_ACCOUNTING_GEN=n contradict each other",
        ),
        (
            "CONFIG_NO_HZ_FULL=y\nCONFIG_NO_HZ_IDLE=y\n",
            (),
            "CONFIG_NO_HZ_IDLE=y and CONFIG_NO_HZ_FULL=y contradict each other: a kernel is built"
            " with one of them",
        ),
        (
            "CONFIG_NO_HZ_FULL=y\nCONFIG_TICK_CPU_ACCOUNTING=y\n",
            (),
            "CONFIG_NO_HZ_FULL=y and CONFIG_TICK_CPU_ACCOUNTING=y contradict each other",
        ),
        ("CONFIG_CFS_BANDWIDTH=m\n", (), "line 1: CONFIG_CFS_BANDWIDTH=m: it takes y or n"),
        ("\nHZ=250\n", (), "line 2: not a line of a kernel's configuration: 'HZ=250'"),
        ("CONFIG_HZ_100=y\n", ("--hz", "250"), "--hz 250 contradicts my.config, which has 100"),
        ("CONFIG_PREEMPT=y\n", ("--preempt", "voluntary"), "--preempt voluntary contradicts"),
        ("CONFIG_PREEMPT_LAZY=y\n", (), "my.config: CONFIG_PREEMPT_LAZY=y: this tree has no"),
        ("CONFIG_HZ_500=y\n", (), "the kernel has no tick rate of 500 Hz; it has 100, 250, 300"),
        ("# CONFIG_HZ_250 is not set\n", (), "CONFIG_HZ_250=n, and no other tick rate is named"),
        ("CONFIG_HZ=1000\nCONFIG_HZ_1000=n\n", (), "CONFIG_HZ_1000=n contradict each other"),
        ("CONFIG_PREEMPT_VOLUNTARY=n\n", (), "and no other preemption model is chosen"),
        (
            "CONFIG_HZ_250=y\nCONFIG_SCHED_AUTGROUP=n\n",
            (),
            "line 2: this kernel has no option CONFIG_SCHED_AUTGROUP."
            " Did you mean CONFIG_SCHED_AUTOGROUP?",
        ),
        ("# CONFIG_PREMPT is not set\n", (), "Did you mean CONFIG_PREEMPT?"),
        (
            "CONFIG_PSI_DEFAULT_DISABLED=y\n",
            (),
            "my.config: CONFIG_PSI_DEFAULT_DISABLED=y needs CONFIG_PSI=y, which it does not have",
        ),
        ("CONFIG_PSSI=y\n", (), "Did you mean CONFIG_PSI?"),
        ("CONFIG_CFS_BANDWITH=y\n", (), "Did you mean CONFIG_CFS_BANDWIDTH?"),
        ("CONFIG_HRTICK=y\n", (), "Did you mean CONFIG_SCHED_HRTICK?"),
        ("CONFIG_NR_CPUS=many\n", (), "line 1: CONFIG_NR_CPUS=many: it takes a number"),
    ],
)
def test_a_configuration_that_cannot_be_is_one_message(
    lab: FakeLab, text: str, words: tuple[str, ...], message: str
) -> None:
    status, _, errors = build(lab, text, *words)
    assert (status, message in errors) == (2, True), errors
    assert "other" not in lab.call("kernel", "list")[1]


def test_cpusets_come_with_isolation_where_the_tree_selects_it(lab: FakeLab) -> None:
    """7.2 and later do; before, one is built without the other, and here it is there anyway."""
    text = "CONFIG_CPUSETS=y\n# CONFIG_CPU_ISOLATION is not set\n"
    status, _, errors = build(lab, text)
    assert (status, "not simulated: CPUSETS, CPU_ISOLATION=n" in errors) == (0, True), errors
    cpuset = lab.tree / "kernel/cgroup/cpuset.c"
    cpuset.parent.mkdir(parents=True)
    cpuset.write_text("housekeeping_update(cpus);\n")
    status, _, errors = build(lab, text)
    message = "CONFIG_CPUSETS=y and CONFIG_CPU_ISOLATION=n contradict each other: CPUSETS comes"
    assert (status, message in errors) == (2, True), errors


def test_a_name_that_only_looks_misspelt_is_ignored(lab: FakeLab) -> None:
    """The tree has it, or the kernel's own tool has written the file."""
    header = lab.tree / "include/linux/mm.h"
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text("#ifdef CONFIG_SCHED_BORE\n#endif\n")
    status, _, errors = build(lab, "CONFIG_SCHED_BORE=y\n")
    assert status == 0, errors
    text = "#\n# Automatically generated file; DO NOT EDIT.\n# Linux/x86 6.12\n#\n"
    status, _, errors = build(lab, text + "CONFIG_SCHED_MCC=y\n")
    assert status == 0, errors


def test_what_costs_time_elsewhere_is_named_and_what_does_not_is_not(lab: FakeLab) -> None:
    _, _, errors = build(
        lab,
        "CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\nCONFIG_JUMP_LABEL=y\nCONFIG_UCLAMP_BUCKETS_COUNT=5\n",
    )
    assert "not simulated: VIRT_CPU_ACCOUNTING_GEN (docs" in errors
    (lab.tree / "kernel/time").mkdir()
    (lab.tree / "kernel/time/Kconfig").write_text("config NO_HZ_FULL\n")
    _, out, errors = build(lab, "CONFIG_NO_HZ_FULL=y\nCONFIG_VIRT_CPU_ACCOUNTING_GEN=y\n")
    assert "NO_HZ_FULL=y" in out
    assert "not simulated" not in errors


@pytest.mark.parametrize("series", TESTED)
def test_every_option_that_the_scheduler_names_is_known(series: str) -> None:
    tables = tomllib.loads((ENGINE / "options.toml").read_text())
    known = {option for of in tables.values() for option in of} | {*MODELS}
    sources = (kernel_source(series) / "kernel/sched").glob("*.[ch]")
    named = {n for file in sources for n in re.findall(r"\bCONFIG_(\w+)", file.read_text())}
    assert sorted(named - known) == []


def test_an_option_falls_with_what_it_needs(lab: FakeLab) -> None:
    _, out, errors = build(lab, "CONFIG_UCLAMP_TASK=n\n")
    assert "UCLAMP_TASK=n, UCLAMP_TASK_GROUP=n" in out, errors


def test_no_such_configuration(lab: FakeLab) -> None:
    words = ("kernel", "build", "other", "--base", "6.12", "--config", "debain")
    status, _, errors = lab.call(*words)
    assert (status, "Did you mean debian?" in errors) == (2, True), errors


def test_shipped_ones_are_those_of_the_series_or_the_one_before(lab: FakeLab) -> None:
    for which, hz in (("debian", 250), ("upstream", 1000)):
        words = ("kernel", "build", which, "--base", "6.12", "--config", which)
        _, out, errors = lab.call(*words)
        assert f"HZ={hz}" in out and f"as {which}-6.12," in out, errors
    (lab.engine / "configs/debian-6.12.config").unlink()
    _, out, errors = lab.call("kernel", "build", "earlier", "--base", "6.12", "--config", "debian")
    assert "as debian-6.1," in out, errors


def test_the_docs_say_why_each_option_is_off() -> None:
    options = tomllib.loads((ENGINE / "options.toml").read_text())
    section = DOCS.read_text().partition("\n## Configuration\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", section))
    ways = options.pop("one_of")
    assert {option for way in ways.values() for option in way} <= named
    assert {option for of in options.values() for option in of} <= named


def test_options_are_those_of_the_engines_configuration() -> None:
    options = tomllib.loads((ENGINE / "options.toml").read_text())
    ours = set(
        re.findall(
            r"^#define CONFIG_(\w+) 1$", (ENGINE / "include/autoconf.h.in").read_text(), re.M
        )
    )
    assert {*options["always"], *options["kept"]} <= ours
    assert not ours & {*options["never"], *options["refused"]}


@pytest.mark.parametrize(
    ("series", "which", "of"),
    [
        ("6.6", "debian", "6.1"),
        ("6.18", "upstream", "6.12"),
        ("7.0", "debian", "7.2"),
        ("7.2", "upstream", "7.3"),
        ("8.0", "upstream", "7.3"),
    ],
)
def test_a_series_without_a_shipped_one_takes_the_nearest(series: str, which: str, of: str) -> None:
    assert _find(which, find_engine(), series).name == f"{which}-{of}.config"
