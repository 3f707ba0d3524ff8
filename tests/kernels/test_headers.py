from pathlib import Path

from schedlab.kernels.headers import included_sources, missing_headers


def test_what_a_tree_includes_from_outside_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text('#include "of-the-secret.h"')
    tree = tmp_path / "tree"
    (tree / "kernel").mkdir(parents=True)
    (tree / "kernel/a.c").write_text(f'#include "../../secret.h"\n#include "{tmp_path}/secret.h"\n')
    assert included_sources(tree, ["kernel/a.c"]) == {"kernel/a.c"}
    assert missing_headers(tree, ["kernel/a.c"], ()) == ["../secret.h", f"{tmp_path}/secret.h"]
