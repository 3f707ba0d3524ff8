"""From runs to verdicts: statistics, trends, comparison with other results."""
