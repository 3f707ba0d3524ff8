"""What a report says of a patch."""

from pathlib import Path

import pytest

from schedlab.kernels.patch_heading import summary
from schedlab.kernels.patches import read_patch

DIFF = """\
diff --git a/kernel/sched/{0}.c b/kernel/sched/{0}.c
--- a/kernel/sched/{0}.c
+++ b/kernel/sched/{0}.c
@@ -1,2 +1,3 @@
-int a;
---- odd;
+int b;
+++ c;
+int d;
"""
MAIL = """\
From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001
From: Somebody <s@example.org>
Subject: [PATCH v2 1/3] sched/fair: scan
 less
{}
Why.
---
"""


def said(tmp_path: Path, heading: str, *files: str) -> str:
    path = tmp_path / "mine.patch"
    path.write_text(heading + "".join(DIFF.format(file) for file in files or ("fair",)))
    patch = read_patch(path)
    return summary(patch.name, patch, patch.heading, "f" * 64)


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("", "mine.patch (sha256 ffffffffffff), "),
        ("words\nof mine\n", "mine.patch (sha256 ffffffffffff), "),
        (MAIL, "sched/fair: scan less (0123456789ab), "),
        ("Subject: =?utf-8?q?sched=3A_f=C3=BCr?=\n\n", "sched: für (sha256 "),
        ("Subject: =?nosuch?q?x?=\n\n", "=?nosuch?q?x?= (sha256 "),
        ("Subject: a\x1b[2J\n\n", "a\\x1b[2J (sha256 "),
        (
            f"commit {'ab' * 20}\nAuthor: x\n\n    sched: what\n\n    Why.\n",
            "sched: what (abababab",
        ),
    ],
)
def test_a_patch_is_named_by_its_subject_and_hash(tmp_path: Path, heading: str, words: str) -> None:
    assert said(tmp_path, heading).startswith(words)


def test_lines_are_counted_file_by_file(tmp_path: Path) -> None:
    assert said(tmp_path, MAIL).endswith("), kernel/sched/fair.c +3 -2")
    printed = said(tmp_path, MAIL, *"abcdef")
    assert printed.endswith("kernel/sched/d.c +3 -2, 2 more files +6 -4")
