"""Where runs happen. A benchmark, a variant and a report do not know which target they are on."""
