"""Databases and services on this host: ycsb-mongodb, sqlite, deathstarbench, specjbb2015."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from schedlab.base.errors import HostError
from schedlab.kernels.native import schedlab_load
from tests.helpers.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def program() -> str:
    try:
        return str(schedlab_load())
    except HostError as error:
        pytest.skip(str(error))


def run(program: str, *words: str) -> dict[str, float]:
    done = subprocess.run(
        [program, *words, "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return {result["name"]: result["value"] for result in json.loads(done.stdout)["results"]}


def test_ycsb(program: str) -> None:
    report = run(
        program, "ycsb-mongodb", "--threadcount", "3", "--operationcount", "400", "--journal"
    )
    assert report["Operations"] == 400
    # 145 us of work; an update waits for a flush, which sleeps for 300 us
    assert report["READ AverageLatency"] > 100
    assert report["UPDATE AverageLatency"] > 300


def test_sqlite(program: str) -> None:
    report = run(program, "sqlite", "--copies", "3", "--rows", "4", "--disk", "2ms")
    # five waits a row at least, and six if the journal has to be asked for another commit
    assert report["time"] > 4 * 5 * 0.002
    assert report["rows"] == pytest.approx(12 / report["time"])


def test_deathstarbench(program: str) -> None:
    report = run(program, "deathstarbench", "--connections", "4", "--duration", "0.5")
    assert report["requests"] > 1
    assert report["Latency p50"] > 1000
    report = run(
        program,
        *("deathstarbench", "--connections", "2", "--duration", "1", "--rate", "40"),
        *("--script", "compose-post", "--ccds", "1"),
    )
    assert 10 < report["requests"] < 80


def test_specjbb_rate(program: str) -> None:
    report = run(
        program,
        *("specjbb2015", "--controller.type", "PRESET", "--controller.preset.ir", "200"),
        *("--controller.preset.duration", "1", "--forkjoin.workers.Tier1", "8", "--Xmn", "16MiB"),
    )
    assert report["processed"] == pytest.approx(200, rel=0.3)
    assert report["young collections"] >= 1


def test_specjbb_search(program: str) -> None:
    report = run(
        program,
        *("specjbb2015", "--controller.rtcurve.step", "0.25", "--forkjoin.workers.Tier1", "8"),
        *("--forkjoin.workers.Tier2", "1", "--forkjoin.workers.Tier3", "2"),
    )
    assert report["hbIR (settled)"] <= report["hbIR (max attempted)"]
    assert report["critical-jOPS"] <= report["max-jOPS"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ycsb-mongodb", "--operationcount", "0"], "would never end"),
        (["ycsb-mongodb", "--readproportion", "x"], "a fraction such as 0.95 is expected"),
        (["deathstarbench", "--ccds", "1000"], "last-level caches"),
        (["deathstarbench", "--script", "nothing"], "mixed-workload|compose-post"),
        (["specjbb2015", "--controller.rtcurve.duration.min", "9"], "duration.max is less"),
    ],
)
def test_bad_options(program: str, words: list[str], says: str) -> None:
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert says in done.stderr


# ---------------------------------------------------------------- SPECjbb2015's metric

# The curve of a published run (SPECjbb2015 1.03, 4,103 max-jOPS): 99th percentile, us, of each
# level, steps of 1 % of 4,187; and what its report makes of it.
P99 = """
1500 1800 2000 2300 2500 2800 3000 3100 3500 4200 4200 5200 5915 5200 6000 9200 9000 9300 8800
12100 16084 14200 9700 18500 11564 19100 12300 28000 19412 27000 17700 24000 36000 30000 19619
27000 33000 54000 39000 72000 42000 67000 35000 53000 63000 71000 48000 62000 58050 68000 47000
74000 61000 58000 72000 62000 105000 137000 165000 119000 144000 119000 168690 139090 176000
180000 165000 179000 186000 228000 214000 244000 215000 244000 245000 205000 273000 333000
241000 281000 565000 295000 477000 372000 428000 410000 563000 610000 533000 595000 740000
610000 620000 870000 950000 1100000 1600000 1800000
"""
REPORT = "868 1318 1785 2366 2366 1628"

HARNESS = """
#include <stdio.h>
#include "specjbb2015.c"

static const unsigned long long p99[] = { %s };

unsigned long long wl_percentile(const struct wl_histogram *histogram, double percent)
{
	return p99[(long)histogram - 1] * WL_USEC * (percent == 99);
}

int main(void)
{
	static struct level level[sizeof(p99) / sizeof(p99[0])];
	struct controller c = { .level = level, .levels = sizeof(p99) / sizeof(p99[0]) };
	unsigned int jops[5];

	for (int i = 0; i < c.levels; i++)
		level[i] = (struct level) { (4187 * (i + 1) + 50) / 100, (void *)(i + 1L) };
	for (int i = 0; i < 5; i++) {
		jops[i] = jops_within(&c, (int []) { 10, 25, 50, 75, 100 }[i] * WL_MSEC);
		printf("%%u ", jops[i]);
	}
	printf("%%u", geometric_mean(jops));
	return 0;
}
"""


def test_critical_jops_as_in_a_published_report(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    source = tmp_path / "metric.c"
    source.write_text(HARNESS % ", ".join(P99.split()))
    figures = ["awk", "-f", ROOT / "workloads" / "figures.awk", ROOT / "workloads" / "figures.toml"]
    with (tmp_path / "figures.h").open("w") as header:
        subprocess.run(figures, stdout=header, check=True)
    # The rest of the workload, and what it calls, is left out by the linker.
    command = ["gcc", "-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
    command += [
        f"-I{ROOT / 'workloads'}",
        f"-I{tmp_path}",
        str(source),
        "-o",
        str(tmp_path / "metric"),
    ]
    subprocess.run(command, check=True)
    report = subprocess.run([tmp_path / "metric"], capture_output=True, text=True, check=True)
    assert report.stdout == REPORT
