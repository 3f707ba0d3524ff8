"""SPECjbb2015 MultiJVM: groups of Java servers under a rising rate of requests (your own kit).

SPECJBB_HOME names the kit's folder; JAVA_OPTS_C, JAVA_OPTS_TI and JAVA_OPTS_BE are the options of
the controller's, the injectors' and the backends' JVM, as in the kit's own script.
"""

import os
import re

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Command, Output, Values
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

SPECJBB = Tool(
    "SPECjbb2015",
    programs=("java",),
    version=("java", "-version"),
    variable="SPECJBB_HOME",
    holds="specjbb2015.jar",
)

MAX_JOPS = Metric("max_jops", unit="jOPS", better="higher", label="max-jOPS")
CRITICAL_JOPS = Metric("critical_jops", unit="jOPS", better="higher", label="critical-jOPS")
PROCESSED = Metric("processed", unit="jOPS", better="higher", label="Processed (jOPS)")
RESPONSE_P99 = Metric("response_p99", unit="us", better="lower", label="Response time 99% (us)")

_JAVA_OPTIONS = ("JAVA_OPTS_C", "JAVA_OPTS_TI", "JAVA_OPTS_BE")
_SCRIPT = Enclosure(
    "multijvm.sh",
    """\
kit=$1 groups=$2
shift 2
cp -r "$kit/config" jbb/ && cd jbb || exit
start() {
    log=$1
    shift
    exec java "$@" >"$log.out" 2>"$log.log"
}
agents=""
group=1
while [ "$group" -le "$groups" ]; do
    start "injector$group" $JAVA_OPTS_TI -jar "$kit/specjbb2015.jar" \\
        -m TXINJECTOR -G="Group$group" -J=injector &
    agents="$agents $!"
    start "backend$group" $JAVA_OPTS_BE -jar "$kit/specjbb2015.jar" \\
        -m BACKEND -G="Group$group" -J=backend &
    agents="$agents $!"
    group=$((group + 1))
done
(start controller $JAVA_OPTS_C "$@" -jar "$kit/specjbb2015.jar" -m MULTICONTROLLER)
status=$?
kill $agents 2>kill.log
wait $agents
cat controller.out
cat ./*.log >&2
exit $status
""",
    __name__,
)
"""A controller, and for each group an injector and a backend, all in JVMs of their own."""


def parse(output: Output) -> Values:
    """Read the controller's summary; IncompleteRun if there is none, or the run was not valid."""
    if wrong := re.search(r"\(validation=(?!PASSED)\w+\)", output.stdout):
        raise IncompleteRun(f"SPECjbb2015's own checks: {wrong[0]}")
    result = r"^.*RUN RESULT:.*\b{}-jOPS = (\d+)"
    return {
        MAX_JOPS: output.number(result.format("max"), "max-jOPS"),
        CRITICAL_JOPS: output.number(result.format("critical"), "critical-jOPS"),
    }


def originals(groups: int, tier1: int, step: str) -> list[Command]:
    """Return the command of the user's kit, if there is one."""
    kit = os.environ.get("SPECJBB_HOME")
    if not kit:
        return []
    java = [f"{name}={os.environ[name]}" for name in _JAVA_OPTIONS if name in os.environ]
    settings = {"controller.rtcurve.step": step, "txi.pergroup.count": 1, **_jvms(groups, tier1)}
    return [
        Command(
            *("env", *java, "sh", _SCRIPT.name, kit, str(groups)),
            *(f"-Dspecjbb.{key}={value}" for key, value in settings.items()),
            tool="java",
            parse=parse,
            enclosures=(_SCRIPT,),
            scratch=("jbb",),
        )
    ]


@stand_in(
    "Specjbb2015MultiJvm",
    workload="specjbb2015",
    stands_for="SPECjbb2015",
    results={MAX_JOPS: "max-jOPS", CRITICAL_JOPS: "critical-jOPS"},
    defaults={"groups": "nodes", "tier1": "cpus/nodes", "step": "0.01"},
    originals=originals,
    tools=[SPECJBB],
    alike="specjbb2015",
)
def specjbb2015(groups: int, tier1: int, step: str) -> Options:
    """The search for the high bound and the response-time curve, times as the stand-in's own."""
    return {"controller.rtcurve.step": step, **_group(groups, tier1)}


@stand_in(
    "Specjbb2015Preset",
    workload="specjbb2015",
    stands_for="SPECjbb2015",
    results={PROCESSED: "processed", RESPONSE_P99: "response time p99"},
    defaults={"groups": "nodes", "tier1": "cpus/nodes", "ir": "cpus*300", "time": 2},
)
def specjbb2015_preset(groups: int, tier1: int, ir: int, time: int) -> Options:
    """One injection rate."""
    return {
        "controller.type": "PRESET",
        "controller.preset.ir": ir,
        "controller.preset.duration": f"{time}s",
        **_group(groups, tier1),
    }


def _group(groups: int, tier1: int) -> dict[str, object]:
    """Return the settings of published MultiJVM runs: a small second tier and third tier."""
    return {**_jvms(groups, tier1), "ParallelGCThreads": tier1}


def _jvms(groups: int, tier1: int) -> dict[str, object]:
    return {
        "group.count": groups,
        "forkjoin.workers.Tier1": tier1,
        "forkjoin.workers.Tier2": 1,
        "forkjoin.workers.Tier3": 16,
    }
