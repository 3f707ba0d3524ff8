"""The name of the engine's sources: of what is compiled, and of nothing that is left beside it."""

from pathlib import Path

from schedlab.kernels.engine import Engine


def test_what_python_leaves_beside_the_sources_is_none_of_them(tmp_path: Path) -> None:
    """The first build with a sched_ext scheduler runs a script there."""
    scripts = tmp_path / "engine/scripts"
    scripts.mkdir(parents=True)
    (scripts / "native.py").write_text("print()\n")
    before = Engine(tmp_path / "engine").version
    (scripts / "__pycache__").mkdir()
    (scripts / "__pycache__/native.cpython-311.pyc").write_bytes(b"x")
    assert Engine(tmp_path / "engine").version == before
    (scripts / "native.py").write_text("print(1)\n")
    assert Engine(tmp_path / "engine").version != before
