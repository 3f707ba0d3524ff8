"""Options of the commands that simulate one run of a benchmark."""

import click

from schedlab.cli.names import BENCHMARK
from schedlab.cli.numbers import SEED, Duration

what_to_run = click.option(
    "--benchmark",
    required=True,
    type=BENCHMARK,
    metavar="NAME[:KEY=VALUE,...]",
    help="What to run.",
)
seed_of_run = click.option(
    "--seed", type=SEED, default=1, show_default=True, help="Seed of the run."
)
longest_simulation = click.option(
    "--timeout",
    type=Duration("1s"),
    default="10min",
    show_default=True,
    metavar="TIME",
    help="The longest a simulator may work.",
)
