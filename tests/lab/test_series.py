"""Trying a patch series with a fake engine: reading it, building it step by step, judging steps."""

import codecs
import mailbox
import os
import shutil
import signal
import subprocess
from email.message import EmailMessage
from pathlib import Path

import pytest

from schedlab.kernels import KernelError
from schedlab.kernels.patch_series import read_series, series_of_commits
from schedlab.kernels.patches import Patch, count_there, parse_patch
from tests.helpers.fake_engine import FakeLab, git_tree

RUN = ("--benchmark", "HackbenchPipeThreads:groups=1,loops=10", "--looks", 6)


def diff(old: object, new: object, *, file: str = "kernel/sched/fair.c") -> str:
    return (
        f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1,7 +1,7 @@\n"
        " /* Completely pretended scheduler */\n \n int here;\n"
        f"-int speed = {old};\n+int speed = {new};\n"
        " int there;\n \n /* More of it. */\n"
    )


WORDS = (
    "diff --git a/Documentation/scheduler.rst b/Documentation/scheduler.rst\n"
    "--- a/Documentation/scheduler.rst\n+++ b/Documentation/scheduler.rst\n"
    "@@ -1 +1 @@\n-Words.\n+More words.\n"
)


def mail(subject: str, body: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Somebody <s@example.org>"
    message["Subject"] = subject
    message.set_content(body)
    return message


def mbox(path: Path, *messages: EmailMessage) -> Path:
    box = mailbox.mbox(path)
    for message in messages:
        box.add(message)
    box.close()
    return path


def three(folder: Path) -> Path:
    """Write a series of three with its cover letter and an answer, the wrong way round."""
    return mbox(
        folder / "series.mbx",
        mail("[PATCH v2 3/3] sched: slower again", f"Why.\n---\n{diff(0.5, 0.9)}"),
        mail("[PATCH v2 2/3] docs: words", f"Why.\n---\n{WORDS}"),
        mail("Re: [PATCH v2 1/3] sched: faster", "> --- a/kernel/sched/fair.c\nNice."),
        mail("[PATCH v2 1/3] sched: faster", f"From here on it is fast.\n---\n{diff('1.0', 0.5)}"),
        mail("[PATCH v2 0/3] sched: speeds", "Three patches."),
    )


def test_a_mbox_is_put_in_order(tmp_path: Path) -> None:
    series = read_series(three(tmp_path))
    assert series.title == "sched: speeds"
    assert [patch.subject for patch in series.patches] == [
        "sched: faster",
        "docs: words",
        "sched: slower again",
    ]


def test_attachments_and_encodings_are_read(tmp_path: Path) -> None:
    message = mail("=?utf-8?q?sched=3A_f=C3=BCr_alle?=", "The patch is attached.")
    message.add_attachment(
        diff("1.0", 0.5).encode(), maintype="text", subtype="x-patch", filename="a.patch"
    )
    [patch] = read_series(mbox(tmp_path / "one.mbx", message)).patches
    assert patch.subject == "sched: für alle"
    assert patch.text == diff("1.0", 0.5)


def test_a_body_that_is_there_again_as_html_counts_once(tmp_path: Path) -> None:
    message = mail("[PATCH 1/1] a", diff("1.0", 0.5))
    message.add_alternative(f"<pre>\n{diff('1.0', 0.5)}</pre>", subtype="html")
    assert len(read_series(mbox(tmp_path / "one", message)).patches) == 1


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit"])
def test_lines_that_end_as_elsewhere_are_read(tmp_path: Path, encoding: str) -> None:
    message = mail("[PATCH 1/1] a", "")
    message.set_content(f"Für alle.\n---\n{diff('1.0', 0.5)}", cte=encoding)
    file = mbox(tmp_path / "one", message)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    [patch] = read_series(file).patches
    assert diff("1.0", 0.5) in patch.text


def test_what_an_answer_suggests_is_no_part_of_the_series(tmp_path: Path) -> None:
    fixup = mail("Re: [PATCH 1/1] a", f"How about this on top:\n\n{diff(0.5, 0.9)}")
    whole = mbox(tmp_path / "whole", mail("[PATCH 1/1] a", diff("1.0", 0.5)), fixup)
    assert [patch.subject for patch in read_series(whole).patches] == ["a"]
    alone = read_series(mbox(tmp_path / "alone", fixup))
    assert len(alone.patches) == 1, "named by itself it is what is asked for"


def test_what_stands_before_the_first_mail_is_passed_by(tmp_path: Path) -> None:
    content = three(tmp_path).read_bytes()
    for number, before in enumerate((b"\n\n", codecs.BOM_UTF8, b"Saved by a mail program.\n")):
        file = tmp_path / f"{number}.mbx"
        file.write_bytes(before + content)
        series = read_series(file)
        assert (series.title, len(series.patches)) == ("sched: speeds", 3)


def test_a_cover_letter_is_no_patch_whatever_it_quotes(tmp_path: Path) -> None:
    cover = mail("[PATCH 0/2] sched: speeds", f"Debug with:\n\n{diff(1, 2)}")
    patches = [mail(f"[PATCH {n}/2] {n}", diff("1.0", 0.5)) for n in (1, 2)]
    series = read_series(mbox(tmp_path / "box", cover, *patches))
    assert (series.title, len(series.patches)) == ("sched: speeds", 2)


def test_a_commit_that_changes_nothing_is_a_patch_of_the_series(tmp_path: Path) -> None:
    box = mbox(
        tmp_path / "box", mail("[PATCH 1/2] a", diff("1.0", 0.5)), mail("[PATCH 2/2] b", "Words.")
    )
    assert [patch.text for patch in read_series(box).patches][1] == ""


def test_an_encoding_that_nobody_knows_is_read_as_utf_8(tmp_path: Path) -> None:
    file = mbox(tmp_path / "box", mail("[PATCH] a", diff("1.0", 0.5)))
    file.write_bytes(file.read_bytes().replace(b'charset="utf-8"', b"charset=y"))
    assert diff("1.0", 0.5) in read_series(file).patches[0].text


def test_an_unwritten_cover_letter_gives_no_title(tmp_path: Path) -> None:
    cover = mail("[PATCH 0/2] *** SUBJECT HERE ***", "*** BLURB HERE ***")
    patches = [mail(f"[PATCH {n}/2] {n}", diff("1.0", 0.5)) for n in (1, 2)]
    assert read_series(mbox(tmp_path / "speeds.mbx", cover, *patches)).title == "speeds"


def test_a_folder_is_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "0002-b.patch").write_text(diff(0.5, 0.9))
    (tmp_path / "0001-a.patch").write_text(diff("1.0", 0.5))
    (tmp_path / "notes.txt").write_text("no patch")
    subjects = [patch.subject for patch in read_series(tmp_path).patches]
    assert subjects == ["0001-a.patch", "0002-b.patch"]


@pytest.mark.parametrize(
    ("subjects", "message"),
    [
        (["[PATCH 1/3] a", "[PATCH 3/3] c"], "patch 2 of 3 is missing"),
        (["[PATCH 1/2] a", "[PATCH 1/2] a", "[PATCH 2/2] b"], "patch 1 of 2 is there twice"),
        (["[PATCH 1/1] a", "[PATCH v2 1/1] a"], "holds versions 1 and 2 of a series"),
        (["[PATCH 1/2] a", "[PATCH 1/3] a"], "patches of several series, of 2 and 3 patches"),
        (["[PATCH 1/2] a", "fixup"], "'fixup' has no number such as [PATCH 2/5]"),
        (["[PATCH 1/9999] a"], "has 9,999 patches; 200 are the most"),
    ],
)
def test_what_is_not_one_whole_series_is_refused(
    tmp_path: Path, subjects: list[str], message: str
) -> None:
    box = mbox(tmp_path / "box", *(mail(subject, diff("1.0", 0.5)) for subject in subjects))
    with pytest.raises(KernelError, match=message.replace("[", "\\[").replace("]", "\\]")):
        read_series(box)


def test_what_is_no_series_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="there is no such file"):
        read_series(tmp_path / "nowhere")
    with pytest.raises(KernelError, match=r"has no file that ends in \.patch"):
        read_series(tmp_path)
    (tmp_path / "words").write_bytes(b"\xff\0From me\n")
    with pytest.raises(KernelError, match="holds no patch"):
        read_series(tmp_path / "words")


def test_each_patch_is_judged_against_the_one_before_and_the_base(lab: FakeLab) -> None:
    out = lab.folder / "out"
    words = ("series", three(lab.folder), "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", out)
    assert status == 0, errors
    assert text.startswith(
        "Subject: Re: [PATCH 0/3] sched: speeds: better with patch 1; worse with"
    )
    assert "  2  docs: words\n       skipped: touches nothing that the simulator" in text
    rows = [line for line in text.splitlines() if line.startswith("time ")]
    assert [row.split()[1] for row in rows] == ["1", "3"]
    assert "better" in rows[0]
    assert rows[1].count("worse") == 1, "than patch 1"
    assert rows[1].count("better") == 1, "than the base"
    assert (out / "mail.txt").read_text() == text.partition("\nwrote ")[0] + "\n"
    assert all(len(line) <= 72 for line in text.splitlines()[:-1])
    again, whole, _ = lab.call("series", "--resume", out, "--fail-on", "worse")
    assert (again, whole) == (1, text), "patch 3 made it worse than it was with patch 1"


def test_each_patch_has_its_own_warnings(lab: FakeLab) -> None:
    other = diff("1.0", 0.5).replace(" /* Comp", "+/* warns: unused [-Wunused] */\n /* Comp")
    slower = diff(0.5, 0.9).replace("-1,7", "-2,7").replace("+1,7", "+2,7")
    box = mbox(
        lab.folder / "box",
        mail("[PATCH 1/2] sched: faster", other.replace("+1,7", "+1,8")),
        mail("[PATCH 2/2] sched: slower", slower),
    )
    words = ("series", box, "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", lab.folder / "out")
    assert status == 0, errors
    assert text.count("warning:") == 1, text
    first, _, _ = text.partition("  2  sched: slower")
    assert "warning: kernel/sched/fair.c:3: unused [-Wunused]" in first


def test_a_patch_that_does_not_build_is_passed_by(lab: FakeLab) -> None:
    box = mbox(
        lab.folder / "box",
        mail("[PATCH 1/2] sched: broken", diff("1.0", "0.5; not C")),
        mail("[PATCH 2/2] sched: mended", diff("0.5; not C", 0.5)),
    )
    words = ("series", box, "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", lab.folder / "out")
    assert status == 0, errors
    assert "does not build: " in text
    assert "expected ';'" in text
    mailed = (lab.folder / "out/mail.txt").read_text()
    assert "make.log" not in mailed and "/kernels/objects/" not in mailed
    [row] = [line for line in text.splitlines() if line.startswith("time ")]
    assert row.count("better") == 2


@pytest.mark.parametrize("stopped", [False, True])
def test_a_patch_whose_runs_fail_is_said_so_and_left_out(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """It takes no evidence of the other patches away; also if the lab is killed in between."""
    box = mbox(
        lab.folder / "box",
        mail("[PATCH 1/3] sched: faster", diff("1.0", 0.5)),
        mail("[PATCH 2/3] sched: crashes", diff("0.5", "1 % 0")),
        mail("[PATCH 3/3] sched: mended", diff("1 % 0", 0.4)),
    )
    out = lab.folder / "out"
    words = ("series", box, "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", out)
    assert "patch-2 fails: HackbenchPipeThreads:groups=1,loops=10: " in errors
    if stopped:
        shutil.rmtree(out / "results")
        status, text, errors = lab.call("series", "--resume", out)
    assert status == 0, errors
    assert text.startswith("Subject: Re: [PATCH 0/3] box: patch 2 fails; better with patches 1, 3")
    assert "  2  sched: crashes\n       fails: HackbenchPipeThreads:groups=1,loops=10: " in text
    assert (out / "failed-1").is_dir(), "the runs that failed are kept"
    status, same, _ = lab.call("series", "--resume", out, "--fail-on", "worse")
    assert (status, same) == (1, text)


def test_who_stops_a_build_leaves_nothing(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("schedlab.lab.series._Stack._put_on", stop)
    words = ("series", three(lab.folder), "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, _, errors = lab.call(*words, "--output", lab.folder / "out")
    assert (status, "stopped by SIGTERM" in errors) == (130, True), errors
    assert not (lab.folder / "out").exists()


def test_a_series_of_which_everything_fails_has_a_mail(lab: FakeLab) -> None:
    box = mbox(lab.folder / "box", mail("[PATCH 1/1] sched: crashes", diff("1.0", "1 % 0")))
    words = ("series", box, "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", lab.folder / "out", "--fail-on", "worse")
    assert status == 1, errors
    assert text.startswith("Subject: Re: [PATCH 0/1] sched: crashes: patch 1 fails\n")


MODE = "diff --git a/{0} b/{0}\nold mode 100644\nnew mode 100755\n"
RENAMED = "diff --git a/a.rst b/b.rst\nsimilarity index 100%\nrename from a.rst\nrename to b.rst\n"
PICTURE = (
    "diff --git a/a.png b/a.png\nindex 0b1c..2d3e 100644\nGIT binary patch\nliteral 3\nKcmZ=\n\n"
)


def test_patches_that_have_no_hunks_are_passed_by(lab: FakeLab) -> None:
    box = mbox(
        lab.folder / "box",
        mail("[PATCH 1/4] sched: a mode", MODE.format("kernel/sched/fair.c")),
        mail("[PATCH 2/4] docs: another name", RENAMED),
        mail("[PATCH 3/4] docs: a picture", PICTURE),
        mail("[PATCH 4/4] sched: faster", MODE.format("kernel/sched/fair.c") + diff("1.0", 0.5)),
    )
    words = ("series", box, "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", lab.folder / "out")
    assert status == 0, errors
    assert text.count("skipped: touches nothing that the simulator compiles") == 3
    assert "  4  sched: faster\n       against the one before: 1 better\n" in text


ELSEWHERE = "--- a/../../etc/x\n+++ b/../../etc/x\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (diff(3.0, 0.4), "hunk 1 (line 1) does not apply to 6.12"),
        (diff("0.5", "0.4").replace("speed = 0.4", "speed =\n0.4"), "is cut short or damaged"),
        (ELSEWHERE, "a/../../etc/x"),
    ],
)
def test_what_comes_before_a_patch_that_does_not_apply_is_kept(
    lab: FakeLab, second: str, why: str
) -> None:
    box = mbox(
        lab.folder / "box",
        mail("[PATCH 1/3] sched: faster", diff("1.0", 0.5)),
        mail("[PATCH 2/3] sched: of another tree", second),
        mail("[PATCH 3/3] sched: more", diff(0.5, 0.4)),
    )
    words = ("series", box, "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", lab.folder / "out")
    assert status == 0, errors
    assert "does not apply: 0002-sched-of-another-tree.patch:" in text
    assert why in " ".join(text.split())
    assert "not reached" in text
    assert "  1  sched: faster\n       against the one before: 1 better\n" in text


NEW = (
    "diff --git a/kernel/sched/new.c b/kernel/sched/new.c\nnew file mode 100644\n"
    "--- /dev/null\n+++ b/kernel/sched/new.c\n@@ -0,0 +1 @@\n+int new;\n"
)
GONE = (
    "diff --git a/kernel/sched/old.c b/kernel/sched/old.c\ndeleted file mode 100644\n"
    "--- a/kernel/sched/old.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int old;\n"
)
BARE = "--- a/lib/sort.c\n+++ b/lib/sort.c\n@@ -1 +0,0 @@\n-int gone;\n"


def test_patches_that_the_base_has_are_passed_by(lab: FakeLab) -> None:
    """Also those whose lines a later one of the series has changed again."""
    fair = lab.tree / "kernel/sched/fair.c"
    fair.write_text(fair.read_text().replace("speed = 1.0", "speed = 0.7"))
    (lab.tree / "kernel/sched/new.c").write_text("int new;\n")
    box = mbox(
        lab.folder / "box",
        mail("[PATCH 1/5] sched: faster", diff("1.0", 0.5) + NEW + GONE),
        mail("[PATCH 2/5] docs: words", WORDS),
        mail("[PATCH 3/5] sched: not as fast", diff(0.5, 0.7)),
        mail("[PATCH 4/5] sched: faster again", diff(0.7, 0.6)),
        mail("[PATCH 5/5] sched: faster once more", diff(0.7, 0.6)),
    )
    words = ("series", box, "--base", "6.12", "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", lab.folder / "out")
    assert status == 0, errors
    assert "  1  sched: faster\n       skipped: 6.12 has it already\n" in text
    assert "  3  sched: not as fast\n       skipped: 6.12 has it already\n" in text
    assert "  4  sched: faster again\n       against the one before: 1 better\n" in text
    assert "skipped: 6.12 with the patches before it has it already\n" in text, "it is there twice"
    fair.write_text(fair.read_text().replace("speed = 0.7", "speed = 0.6"))
    status, _, errors = lab.call(*words, "--output", lab.folder / "all")
    assert (status, errors.count("has it already")) == (2, 4), errors


@pytest.mark.parametrize(
    ("there", "patch", "found"),
    [
        ("int new;\n", NEW, True),
        ("int other;\n", NEW, False),
        (None, NEW, False),
        (None, GONE, True),
        ("int old;\n", GONE, False),
        (None, BARE, False),
    ],
)
def test_what_counts_as_there(
    tmp_path: Path, there: str | None, patch: str, *, found: bool
) -> None:
    [change] = parse_patch(patch, "patch")
    if there is not None:
        (tmp_path / change.path).parent.mkdir(parents=True)
        (tmp_path / change.path).write_text(there)
    assert count_there(tmp_path, [], [Patch("patch", (change,))]) == found


def test_commits_of_a_tree(lab: FakeLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = git_tree(tmp_path / "repo")
    fair = tree / "kernel/sched/fair.c"
    git = ("git", "-C", str(tree), "-c", "user.name=t", "-c", "user.email=t@example.org")
    for number, (old, new) in enumerate([("1.0", "0.5"), ("0.5", "0.9")], 1):
        fair.write_text(fair.read_text().replace(f"speed = {old}", f"speed = {new}"))
        subprocess.run([*git, "commit", "-q", "-a", "-m", f"sched: step {number}"], check=True)
    base, series = series_of_commits(tree, "v6.12-test..HEAD")
    assert len(base) == 40
    assert [patch.subject for patch in series.patches] == ["sched: step 1", "sched: step 2"]
    words = ("series", "v6.12-test..HEAD", "--tree", tree, "--target", f"sim:{lab.machine}", *RUN)
    status, text, errors = lab.call(*words, "--output", lab.folder / "out")
    assert status == 0, errors
    assert "  1  sched: step 1\n       against the one before: 1 better\n" in text
    assert "  2  sched: step 2\n       against the one before: 1 worse\n" in text
    on_base = ("series", "HEAD~1..HEAD", "--target", f"sim:{lab.machine}", *RUN)
    lab.call("kernel", "add", "--tree", tree, "--ref", "HEAD~1", "--name", "half")
    status, text, errors = lab.call(*on_base, "--base", "half", "--output", lab.folder / "half")
    assert (status, "the first on half, " in " ".join(text.split())) == (0, True), errors
    assert "  1  sched: step 2\n       against the one before: 1 worse\n" in text
    monkeypatch.chdir(tree / "kernel/sched")
    status, text, errors = lab.call(*on_base, "--output", lab.folder / "here")
    assert (status, "the first on repo-" in " ".join(text.split())) == (0, True), errors
    for bad, message in {
        "HEAD": "is not a range of commits",
        "nosuch..HEAD": "has no commit 'nosuch'",
        "HEAD..HEAD": "has no commits in it",
        "--output=x..HEAD": "is not a range",
    }.items():
        with pytest.raises(KernelError, match=message):
            series_of_commits(tree, bad)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name the patches"),
        (("/nosuch",), "/nosuch: no such file or folder"),
        (("a/../b",), "a/../b: no such file or folder"),
        (("box",), "name the kernel tree that the patches apply to"),
        (("box", "--base", "6.12", "--tree", "x"), "--tree is for commits A..B"),
        (("a..b",), "the current folder is not in a git tree of a kernel"),
        (("a..b", "--base", "6.12"), "kernel tree 6.12 was not taken from a git tree, and the"),
        (("box", "--base", "6.12", *RUN), "host is not sim:MACHINE"),
        (("box", "--base", "6.13", *RUN), "no kernel tree is called '6.13'"),
        (("box", "--resume", "x"), "--resume takes everything from DIR"),
        (("--resume", "x"), "is not the folder of a series"),
    ],
)
def test_mistakes_are_refused_and_leave_nothing(
    lab: FakeLab, words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab.folder)
    mbox(lab.folder / "box", mail("[PATCH] a", diff("1.0", 0.5)))
    before = sorted(lab.folder.iterdir())
    status, _, errors = lab.call("series", *words)
    assert (status, message in errors) == (2, True), errors
    assert sorted(lab.folder.iterdir()) == before
