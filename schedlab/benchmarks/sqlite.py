"""sqlite: copies of sqlite3, each inserting rows one by one and waiting for the disk each time."""

import functools

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Command, Output, Values
from schedlab.benchmarks.copies import SCRIPT, copies_of, read_copies
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

SQLITE = Tool("sqlite3", package="sqlite3", version=("sqlite3", "--version"))

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")

_INSERT = Enclosure(
    "insert.sh",
    """\
database=db/$$.sqlite
mkdir -p db
awk -v rows="$1" 'BEGIN {
    print "CREATE TABLE rows (number, time, code, text, PRIMARY KEY (number, time));"
    for (i = 0; i < rows; i++)
        printf "INSERT INTO rows VALUES (%d, CURRENT_TIMESTAMP, 204, %016d);\\n", i, i
}' | sqlite3 -bail "$database" && sqlite3 "$database" "SELECT 'rows: ' || COUNT(*) FROM rows"
""",
    __name__,
)
"""What a copy does. Each row is a transaction, as sqlite3 makes one of each statement."""


def parse(output: Output, rows: int) -> Values:
    """Read how long the slowest copy took.

    Raises:
        IncompleteRun: a copy did not end well, or rows are missing.
    """
    copies = read_copies(output)
    for copy in copies:
        inserted = copy.number(r"^rows: (\d+)$", "number of rows")
        if inserted != rows:
            raise IncompleteRun(f"a copy inserted {inserted:g} of {rows} rows")
    return {TIME: max(copy.seconds for copy in copies)}


def originals(copies: int, rows: int) -> list[Command]:
    """Return sqlite3's own, with databases in the run's folder."""
    return [
        Command(
            *copies_of(copies, "sh", _INSERT.name, str(rows)),
            tool="sqlite3",
            parse=functools.partial(parse, rows=rows),
            enclosures=(SCRIPT, _INSERT),
            scratch=("db",),
        )
    ]


@stand_in(
    "Sqlite",
    workload="sqlite",
    stands_for="sqlite3",
    results={TIME: "time"},
    defaults={"copies": 1, "rows": 2500},
    originals=originals,
    tools=[SQLITE],
)
def sqlite(copies: int, rows: int) -> Options:
    """Rows inserted one by one, as in the Phoronix Test Suite: short work between waits."""
    return {"copies": copies, "rows": rows}
