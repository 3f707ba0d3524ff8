"""Copies of a program side by side: a shell starts them all, each is read and timed for itself."""

import re
from dataclasses import dataclass

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Output
from schedlab.benchmarks.enclosure import Enclosure

SCRIPT = Enclosure(
    "copies.sh",
    """\
copies=$1 pinned=$2
shift 2
cpus=$(nproc --all)
echo "copies: $copies"
copy() {
    begin=$(date +%s%N)
    said=$("$@" 2>&1)
    status=$?
    end=$(date +%s%N)
    printf '%s\\ncopy ended with %d after %d ns\\n' "$said" "$status" $((end - begin))
}
i=0
while [ "$i" -lt "$copies" ]; do
    if [ "$pinned" = pinned ]; then
        copy taskset -c $((i % cpus)) "$@" &
    else
        copy "$@" &
    fi
    i=$((i + 1))
done
wait
""",
    __name__,
)
"""What a command of copies encloses. A copy prints all in one write, so that several do not mix."""

_COPY = re.compile(r"(.*?)^copy ended with (\d+) after (\d+) ns$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Copy:
    """What one copy said, and how long it took."""

    said: str
    seconds: float

    def number(self, pattern: str, what: str) -> float:
        """Return the number that a pattern's group matches; IncompleteRun where there is none."""
        return Output(self.said).number(pattern, what)


def copies_of(count: int, *argv: str, pinned: bool = False) -> tuple[str, ...]:
    """Return the words that run so many copies, each pinned to a CPU in turn or free."""
    return ("sh", SCRIPT.name, str(count), "pinned" if pinned else "free", *argv)


def read_copies(output: Output) -> list[Copy]:
    """Return what each copy left; IncompleteRun if some did not end, or not well."""
    count = output.number(r"^copies: (\d+)$", "number of copies")
    copies = []
    for said, status, ns in _COPY.findall(output.stdout):
        if status != "0":
            last = (said.strip().splitlines() or ["no output"])[-1]
            raise IncompleteRun(f"a copy ended with status {status}: {last[:200]}")
        copies.append(Copy(said, int(ns) / 1e9))
    if len(copies) != count:
        raise IncompleteRun(f"{len(copies)} of {count:g} copies ended")
    return copies
