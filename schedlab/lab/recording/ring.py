"""Recording by ftrace's ring buffers, in an instance of our own: what others trace is left alone.

The events stay in the kernel until the recording is over. Only a buffer that fills is read
meanwhile.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.system import System
from schedlab.lab.recording.reading import trace_cmd_text
from schedlab.lab.recording.trace_dat import write_trace_dat
from schedlab.lab.recording.tracepoints import Tracepoints
from schedlab.lab.recording.unbroken import unbroken

PROGRAMS = ("dd",)
READER = "trace-cmd"
"""Of this host: it makes text of the recording."""
FAILED = 213
"""The status of what records, if that failed."""
_RECORD = r"""
tracefs=$1 own=$2 data=$3 kib=$4 events=$5 here=$(pwd)
shift 5
copy=/usr/bin/dd
[ -x $copy ] || copy=dd
fail() { echo "ftrace: $1" >&2; cd /; rmdir "$own"; exit FAILED; }
mkdir "$own" || exit FAILED
cd "$own" || fail "$own cannot be entered"
echo 0 >tracing_on
echo mono >trace_clock || fail "it has no clock \`mono\`"
echo "$kib" >buffer_size_kb || fail "it has no room for buffers of $kib KiB"
[ ! -e syscall_user_buf_size ] || echo 0 >syscall_user_buf_size
for event in $events; do
	echo 1 >"events/$event/enable" || fail "$event cannot be recorded"
done
for event in header_page header_event $events; do
	echo "== $event"
	file=$tracefs/events/$event
	[ -f "$file" ] || file=$file/format
	cat "$file"
done >"$data/formats"
: >"$data/recording" || fail "it cannot write to $data"
filled() {
	awk -v kib="$kib" '/^bytes: / && $2 > 256 * kib { print FILENAME, int($2 / 4096) }' \
		per_cpu/cpu*/stats
}
take() {
	said=$(LC_ALL=C "$copy" bs=64k iflag=nonblock status=none ${2:+count=$2} \
		if="$1/trace_pipe_raw" 2>&1 >>"$data/${1##*/}.raw")
	case $said in *writing*) false ;; esac
}
while [ -e "$data/recording" ]; do
	sleep 0.5
	filled | while read -r file pages; do
		take "${file%/*}" "$pages" || exit
	done || exit
done &
reader=$!
echo "schedlab: recorder $$" >&2
(echo 1 >tracing_on && cd "$here" && unset OLDPWD && exec "$@")
status=$?
echo 0 >tracing_on
rm "$data/recording"
wait $reader || fail "its buffers cannot be written to $data"
for cpu in per_cpu/cpu*; do
	take "$cpu" "" || fail "its buffers cannot be written to $data"
done
for cpu in per_cpu/cpu*; do cat "$cpu/stats"; done >"$data/stats"
cd /
rmdir "$own"
exit $status
""".replace("FAILED", str(FAILED))
"""Each half second, what a quarter of a buffer or more holds is taken, by whole pages: what reads
the last, half filled one makes events itself, and would never come to an end. Copying is by its
place: the shell of a guest, busybox, would take its own dd, which knows no `nonblock`. Kernels that
record what programs write (from 7.0 on) are told not to. The command is there when the recording
begins, as a task that perf starts is."""
_LINE = re.compile(
    rb"^ *<[\w.]+>-(\d+) +(\d+)([^\s\d][^\s]{3,8}) +(\d+\.\d{9}: )(\w+)(?=: )", re.MULTILINE
)
_LOST = re.compile(rb"^CPU:\d+ \[LOST (\d{1,18}) EVENTS\]$", re.MULTILINE)
_UNREAD = re.compile(rb"^(?:overrun|dropped events): (\d{1,18})$", re.MULTILINE)
_HEAD = re.compile(rb"\A(?:cpus=\d+|version = \S+)\n")


@dataclass(frozen=True)
class RingRecorder:
    """Of one system."""

    points: Tracepoints
    instance: str
    """The folder of tracefs that is made."""
    kib: int
    """Of each CPU's buffer."""

    name = "ftrace"

    def argv(self, run: Sequence[str], place: str) -> tuple[str, ...]:
        """Return the command that records while another one runs, into a folder."""
        events = " ".join(event.replace(":", "/") for event in self.points.events)
        own = (self.points.tracefs, self.instance, place, str(self.kib), events)
        return ("sh", "-c", _RECORD, "sh", *own, *run)

    def wrote(self, folder: Path) -> bool:
        """Return whether there are events in the folder."""
        return any(file.stat().st_size for file in folder.glob("cpu*.raw"))

    def text(self, folder: Path) -> Iterator[bytes]:
        """Yield pieces of what was recorded, as `perf script` would print it, with flags."""
        buffers = sorted(folder.glob("cpu*.raw"), key=lambda file: int(file.stem[3:]))
        file = folder / "trace.dat"
        write_trace_dat((folder / "formats").read_bytes(), buffers, file)
        systems = dict(event.encode().split(b":")[::-1] for event in self.points.events)

        def line(found: re.Match[bytes]) -> bytes:
            task, cpu, flags, time, event = found.groups()
            head = b"%16s %5d [%03d] %s %s" % (b"<...>", int(task), int(cpu), flags, time)
            return head + systems.get(event, b"ftrace") + b":" + event

        def lines() -> Iterator[bytes]:
            rest = b""
            lost = sum(map(int, _UNREAD.findall((folder / "stats").read_bytes())))
            for piece in trace_cmd_text(file):
                whole, newline, begun = (rest + piece).rpartition(b"\n")
                lost -= sum(map(int, _LOST.findall(whole)))
                yield _LINE.sub(line, _HEAD.sub(b"", whole + newline))
                rest = begun
            yield _LINE.sub(line, rest)
            if lost > 0:  # before the first page, which trace-cmd does not tell
                yield b"CPU:0 [LOST %d EVENTS]\n" % lost

        return unbroken(lines())


def lacking(system: System, tracefs: str) -> str:
    """Return what this recorder lacks there, and how to get it; empty if it has all."""
    if not system.is_root():
        return "ftrace's buffers take root"
    if not system.exists(f"{tracefs}/instances"):
        return f"this kernel's tracefs has no instances ({tracefs}/instances)"
    if shutil.which(READER) is None:
        install = f"\n  Install: apt-get install {READER}"
        return f"{READER} is not installed here; it reads ftrace's buffers.{install}"
    return ""
