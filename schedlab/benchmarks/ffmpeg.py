"""ffmpeg with x264: a video encoder's frame threads, which wait for each other's rows."""

import functools
import re

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.tool import Tool

FFMPEG = Tool("ffmpeg", package="ffmpeg", version=("ffmpeg", "-version"))

RATE = Metric("frames_per_second", unit="1/s", better="higher", label="Frames/sec")

_MODELLED = "medium"
_MOST_THREADS = 128
"""x264 has no more (X264_THREAD_MAX)."""


def parse(output: Output) -> Values:
    """Work out the rate from ffmpeg's own time, which its line of progress rounds.

    Raises:
        IncompleteRun: the frames or the time are missing.
    """
    taken = re.search(r"^bench: utime=\S+ stime=\S+ rtime=([\d.]+)s", output.stderr, re.MULTILINE)
    if not taken or float(taken[1]) <= 0:
        raise IncompleteRun("the output has no 'bench: ... rtime=' line")
    return {RATE: _encoded(output) / float(taken[1])}


def parse_all(output: Output, frames: int) -> Values:
    """Like parse(), of so many frames; IncompleteRun if some are missing as well."""
    if (done := _encoded(output)) != frames:
        raise IncompleteRun(f"{done} of {frames} frames were encoded")
    return parse(output)


def _encoded(output: Output) -> int:
    """Return the frames of the last line of progress."""
    lines = output.stderr.replace("\r", "\n")
    done = re.findall(r"^frame=\s*(\d+) ", lines, re.MULTILINE)
    return int(done[-1]) if done else 0


def _model(frames: int, threads: int, preset: str) -> Model:
    """The same frames on the model of the encoder, which knows one preset."""
    if preset != _MODELLED:
        raise UsageError(f"FfmpegX264: simulated, preset is {_MODELLED}, not '{preset}'.")
    options = {"frames": frames, "threads": min(threads, _MOST_THREADS)}
    return workload_model("x264", options, {RATE: "frames"})


@benchmark(
    "FfmpegX264",
    tool=FFMPEG,
    metrics=[RATE],
    parse=parse,
    model=_model,
    defaults={"frames": 1200, "threads": "cpus", "preset": "medium"},
    grows="frames",
)
def ffmpeg_x264(frames: int, threads: int, preset: str) -> Command:
    """A moving test picture of 1280x720 is encoded; nothing is read or kept."""
    return Command(
        *("ffmpeg", "-hide_banner", "-nostdin", "-benchmark", "-f", "lavfi"),
        *("-i", "testsrc2=size=1280x720:rate=30", "-frames:v", str(frames)),
        *("-c:v", "libx264", "-preset", preset, "-threads", str(threads), "-f", "null", "-"),
        parse=functools.partial(parse_all, frames=frames),
    )
