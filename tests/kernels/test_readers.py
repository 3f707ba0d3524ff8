"""Which functions of a kernel's scheduler read a setting."""

from pathlib import Path

import pytest

from schedlab.kernels import readers
from schedlab.kernels.readers import SchedulerSources
from schedlab.kernels.shelf import Base, PatchCopy, Recipe, Shelf, digest_of
from schedlab.settings.kinds.sched_features import READ_IN
from tests.helpers.kernel_source import kernel_base

FAIR = """\
/* sched_feat(SHINY) is asked for below; sysctl_x too. */
unsigned int sysctl_x = 3;
static struct ctl_table table[] = {
	{
		.procname	= "x_us",
		.data		= &sysctl_x,
		.proc_handler	= x_handler,
	},
	{
		.procname	= "numa_balancing",
		.data		= NULL,
		.proc_handler	= sysctl_numa_balancing,
	},
};
#define x_scaled(y)	\\
	((y) * sysctl_x)
static int x_handler(int write)
{
	return sysctl_x;
}
static void
place(struct rq *rq,
      int flags)
{
	if (sched_feat(SHINY))
		sysctl_x = 4;
}
static inline bool numa(void)
{
	return static_branch_unlikely(&sched_numa_balancing);
}
"""
PATCH = """\
--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c
@@ -28,3 +28,3 @@
 static inline bool numa(void)
 {
-	return static_branch_unlikely(&sched_numa_balancing);
+	return sched_feat(NEW) && static_branch_unlikely(&sched_numa_balancing);
"""


def test_functions_macros_and_patches(tmp_path: Path) -> None:
    file = tmp_path / "tree/kernel/sched/fair.c"
    file.parent.mkdir(parents=True)
    file.write_text(FAIR)
    shelf = Shelf(tmp_path / "cache")
    shelf.put_base(
        Base(name="t", series="6.12", release="6.12.1", origin="", tree=tmp_path / "tree")
    )
    copy = PatchCopy(name="new.patch", sha256=digest_of(PATCH))
    recipe = Recipe(name="new", base="t", patches=(copy,), preempt="voluntary")
    shelf.put_recipe(recipe, [PATCH])
    plain = SchedulerSources(recipe.unpatched(), shelf)
    assert plain.of_feature("SHINY") == ("place",)
    assert plain.of_feature("NEW") == ()
    assert SchedulerSources(recipe, shelf).of_feature("NEW") == ("numa",)
    assert plain.of_file("x_us") == ("x_scaled",)
    assert plain.of_file("numa_balancing") == ("numa",)
    assert plain.of_file("sched_unheard_of") == ()


@pytest.mark.parametrize("series", ["6.1", "6.12"])
def test_in_a_kernel(series: str, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    base = kernel_base(series)
    shelf.put_base(base)
    sources = SchedulerSources(base.plain, shelf)
    assert "task_tick_fair" in sources.of_file("numa_balancing")
    assert sources.of_file("sched_schedstats") == ("schedstat_enabled",)
    assert sources.of_file("tunable_scaling") == ("get_update_sysctl_factor",)
    assert "task_hot" in sources.of_file("migration_cost_ns")
    assert sources.of_feature("WA_BIAS") == ("wake_affine_weight",)


def test_both_series_have_the_functions_of_the_table(tmp_path: Path) -> None:
    asked: dict[str, set[str]] = {name: set() for name in READ_IN}
    for series in ("6.1", "6.12"):
        shelf = Shelf(tmp_path / series)
        shelf.put_base(base := kernel_base(series))
        sources = SchedulerSources(base.plain, shelf)
        for name, functions in asked.items():
            functions |= set(sources.of_feature(name))
    missing = {name: set(of) - asked[name] for name, of in READ_IN.items()}
    assert not any(missing.values()), missing


def test_comments_are_no_code_closed_or_not() -> None:
    text = "one(); /* a\n b */ two(); // three()\n/* four();\n"
    assert readers._without_comments(text) == "one(); \n two(); \n\n"
