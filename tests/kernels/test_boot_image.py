"""The configuration of kernels that boot."""

from pathlib import Path

from schedlab.kernels.boot_image import refused_lines


def test_options_that_a_tree_does_not_have_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "Kconfig").write_text("config SMP\n\tbool\n")
    (tmp_path / "lib/Kconfig.debug").write_text("menuconfig FTRACE\n\tbool\n")
    asked = "# A line of ours.\nCONFIG_SMP=y\nCONFIG_FTRACE=y\nCONFIG_SCHED_DEBUG=y\n"
    assert refused_lines(asked, "CONFIG_SMP=y\nCONFIG_FTRACE=y\n", tmp_path) == []
    assert refused_lines(asked, "CONFIG_SMP=y\n", tmp_path) == ["CONFIG_FTRACE=y"]


def test_what_a_build_asks_for_is_never_left_out(tmp_path: Path) -> None:
    asked = "CONFIG_SMP=y\nCONFIG_HZ_250=y\nCONFIG_PREEMPT_VOLUNTARY=y\n"
    refused = refused_lines(asked, "CONFIG_SMP=y\nCONFIG_HZ_250=y\n", tmp_path)
    assert refused == ["CONFIG_PREEMPT_VOLUNTARY=y"]
