"""`schedlab series`: what each patch of a series changes, on simulated machines."""

import sys
from contextlib import ExitStack, closing
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedlab.base.data import plan_file
from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo
from schedlab.cli.how import How, given_options
from schedlab.cli.names import ANY_PATH, KERNEL, PLAN
from schedlab.cli.run import evidence_options, fail_on_option, load_options

if TYPE_CHECKING:
    from schedlab.kernels.patch_series import Series
    from schedlab.lab.sweep import Swept
    from schedlab.result.series import TriedSeries

MAIL = "mail.txt"


@click.command("series")
@click.argument("patches", required=False, type=ANY_PATH, metavar="[MBOX|FOLDER|A..B]")
@click.option(
    "--base",
    type=KERNEL,
    metavar="NAME",
    help="The kernel tree that the first patch applies to; for commits A..B it replaces A.",
)
@click.option(
    "--tree",
    type=ANY_PATH,
    metavar="PATH",
    help="The git tree of the commits A..B; otherwise the base's, or the current folder's.",
)
@click.option(
    "--plan", "plan_name", type=PLAN, metavar="PLAN", help="The plan whose benchmarks are run."
)
@click.option(
    "--settings",
    metavar="'SETTING; ...'",
    help="Settings that hold for all patches, as in a variant.",
)
@load_options
@evidence_options
@fail_on_option
def series_command(
    patches: Path | None,
    base: str | None,
    tree: Path | None,
    plan_name: str | None,
    settings: str | None,
    **options: Any,
) -> None:
    """Try every patch of a series on simulated machines, and report what it changes.

    Builds each patch on those before it, runs a plan on the base and after every patch, and judges
    each patch against the one before it and against the base. The answer is a mail. Patches come
    as an mbox (as `b4 am` and `git format-patch --stdout` write it), as a folder of *.patch files,
    or as commits A..B of a git tree.

    \b
    schedlab series series.mbx --base 6.12 --target sim:epyc-7713-2p-nps1 --suite hackbench
    schedlab series v6.12..topic --tree ~/linux --target sim:hikey960 --plan eas
    schedlab series v6.12..topic --base 7.3 --target sim:smt8 --suite hackbench
    schedlab series --resume results/...
    """
    chosen = {f.name: options.pop(f.name) for f in fields(How) if f.name in options}
    how = How(**chosen, plan_file=plan_file(plan_name) if plan_name else None)
    named = {"PATCHES": patches, "--base": base, "--tree": tree, "--plan": plan_name}
    given = [name for name, value in named.items() if value] + list(given_options(options))
    if how.resume and (how.output or settings or given):
        raise UsageError("--resume takes everything from DIR; leave out the patches and the plan.")
    if not how.resume and patches is None:
        raise UsageError("name the patches: an mbox, a folder, or --tree PATH A..B.")
    from schedlab.kernels.patch_series import is_range

    if patches is not None and not is_range(str(patches)):
        if not patches.exists():
            raise UsageError(
                f"{patches}: no such file or folder; name an mbox, a folder of patches,"
                " or commits A..B."
            )
        if tree is not None:
            raise UsageError(
                "--tree is for commits A..B; name the kernel tree of these patches: --base NAME."
            )
        if base is None:
            raise UsageError("name the kernel tree that the patches apply to: --base NAME.")

    read = _read(patches, base, tree) if patches is not None else None

    if how.resume:
        from schedlab.result.series import read_record

        read_record(how.resume)

    # Only here: a mistake in the options is reported at once, without loading what runs plans.
    from schedlab.cli.sweep import write_reports_of
    from schedlab.lab.series import resume_series, run_series

    lab = how.lab()
    if how.resume:
        folder = how.resume
        tried, swept = resume_series(folder, lab)
    else:
        assert read
        series, tree_name = read
        plan = plan_for_kernels(plan_name, settings, options)
        folder = how.output or _default_folder(series)
        tried, swept = run_series(series, tree_name, plan, folder, lab)
    write_reports_of(swept)
    worse = _tell(tried, swept, folder)
    swept.check()
    if how.fail_on and worse:
        sys.exit(1)


def plan_for_kernels(plan_name: str | None, settings: str | None, options: dict[str, Any]) -> Any:
    """Return the plan; its first variant has the settings that all kernels share."""
    from schedlab.cli.planning import plan_of

    variants: tuple[str, ...] = ()
    if settings or plan_name is None:
        variants = (f"base: {settings}" if settings else "base", "patch")
    return plan_of(plan_name, {**options, "variants": variants})


def _read(patches: Path, base: str | None, tree: Path | None) -> "tuple[Series, str]":
    """Return the series and the name of the tree it goes on; of commits it is the first one."""
    from schedlab.kernels.engine import find_engine
    from schedlab.kernels.patch_series import is_range, read_series, series_of_commits
    from schedlab.kernels.shelf import Shelf
    from schedlab.kernels.tree import tree_at_ref, tree_of_range

    shelf = Shelf()
    on = shelf.base(base) if base else None
    if not is_range(str(patches)):
        assert on
        return read_series(patches), on.name
    tree = tree or tree_of_range(on)
    commit, series = series_of_commits(tree, str(patches))
    if on:
        return series, on.name
    from schedlab.cli.steps import ConsoleSteps

    name = f"{tree.resolve().name}-{commit[:12]}"
    shelf.put_base(tree_at_ref(tree, commit, name, find_engine(), shelf, ConsoleSteps()))
    return series, name


def _default_folder(series: "Series") -> Path:
    from schedlab.lab.new_folder import stamped

    return stamped(f"series-{len(series.patches)}")


def _tell(tried: "TriedSeries", swept: "Swept", folder: Path) -> bool:
    """Print the mail and leave it in the folder; return whether a patch fails or is worse."""
    from schedlab.judging.analysis import analyse, judge_steps
    from schedlab.report import Report, save
    from schedlab.report.series import series_mail
    from schedlab.result.store import Store

    with ExitStack() as stack:
        stores = [stack.enter_context(closing(Store.open(place))) for place in swept.whole]
        if not stores:
            return False
        mail = series_mail(tried, [Report(store, analyse(store)) for store in stores])
        steps = [outcome for store in stores for outcome in judge_steps(store)]
    echo(mail)
    echo(f"wrote {save(mail, folder / MAIL)}")
    fails = any(patch.state == "fails" for patch in tried.patches)
    return fails or any(outcome.verdict.word == "worse" for outcome in steps)
