"""How much a document to import may hold: more than any real one, less than a host's memory.

docs/manual/import.md lists these.
"""

MOST_BYTES = 64 << 20
"""Of a file; the CSV report of 10,010 runs with 26 counters each has 34 MB."""
MOST_LINES = 1_000_000
LONGEST_TEXT = 20_000
"""Characters of a command, a notice, an error, a value of the platform table, and of a line where
lines count: not in CSV, JSON and HTML."""
LONGEST_NAME = 500
"""Characters of the name of a benchmark, metric, counter, setting or row of the platform table."""
LONGEST_NUMBER = 100
"""Digits in a row."""
HIGHEST = 2**63 - 1
"""Of seeds and positions, what the store can hold."""
MOST_BLOCKS = 1_000_000
MOST_RUNS = 200_000
MOST_RESULTS = 10_000
"""Metrics of all benchmarks, times the variants beside the baseline."""
MOST_COUNTERS = 100_000
"""The same of counters."""
MOST_ELEMENTS = 2_000_000
"""Tables and lists of a JSON document."""
MOST_ENTRIES = 10_000
"""Entries of a table or list of such a document, but for the list of runs."""
