"""The user's own kernel tree: as it stands, or a git ref of it, exported."""

import re
from pathlib import Path

from schedlab.base.errors import nearest
from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors, full_disk
from schedlab.kernels.engine import OLDEST, Engine, is_taken
from schedlab.kernels.process import output
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import MUST_HAVE, Base, Shelf
from schedlab.kernels.unpacking import pour, unpacked


def series_and_release(makefile: str, where: str) -> tuple[str, str]:
    """Read the series and release from a kernel's top Makefile.

    Raises:
        KernelError: it is not a kernel tree, or of a series older than the simulator takes.
    """
    found = dict(
        re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(.*)$", makefile, re.M)
    )
    if "VERSION" not in found or "PATCHLEVEL" not in found:
        raise KernelError(f"{where}: is not a kernel tree (its Makefile names no version).")
    series = f"{found['VERSION']}.{found['PATCHLEVEL']}"
    release = f"{series}.{found.get('SUBLEVEL') or 0}{found.get('EXTRAVERSION', '')}"
    if not is_taken(series):
        raise KernelError(
            f"{where}: is Linux {release}; the simulator takes Linux {OLDEST} and newer."
        )
    return series, release


def tree_as_it_is(path: Path, name: str) -> Base:
    """Describe a tree that is used where it stands.

    Raises:
        KernelError: it is not a kernel tree, or too old.
    """
    tree = path.expanduser().absolute()
    if not tree.is_dir():
        raise KernelError(f"{path}: there is no such folder.")
    if not (tree / MUST_HAVE).is_file():
        raise KernelError(f"{path}: is not a kernel tree (no {MUST_HAVE} there).")
    with disk_errors(f"reading {path}"):
        makefile = (tree / "Makefile").read_text(encoding="utf-8", errors="replace")
    series, release = series_and_release(makefile, str(path))
    return Base(name=name, series=series, release=release, origin=f"{tree}, as it is", tree=tree)


def tree_at_ref(
    path: Path, ref: str, name: str, engine: Engine, shelf: Shelf, watch: Watch
) -> Base:
    """Export a ref of a git tree; what was exported before is not exported again.

    Raises:
        KernelError: no git tree, no such ref, no kernel, or one that is too old.
    """
    repo = path.expanduser().absolute()
    if not repo.is_dir():
        raise KernelError(f"{path}: there is no such folder.")
    commit = _commit(repo, ref)
    status, makefile = _git(repo, "show", f"{commit}:Makefile")
    if status or _git(repo, "cat-file", "-e", f"{commit}:{MUST_HAVE}")[0]:
        raise KernelError(f"{path}: {ref} is not a kernel tree (no Makefile or no {MUST_HAVE}).")
    series, release = series_and_release(makefile, f"{path}: {ref}")
    identity = f"git-{commit[:16]}"
    parts = [
        part for part in engine.reach if not _git(repo, "cat-file", "-e", f"{commit}:{part}")[0]
    ]
    folder = shelf.tree_folder(identity)
    with unpacked(folder, engine.reach, watch) as partial:
        if partial:
            with watch.task(f"exporting {ref}"):
                _export(repo, commit, parts, partial)
    return Base(
        name=name,
        series=series,
        release=release,
        origin=f"{ref} ({commit[:12]}) of {repo}",
        tree=folder,
        identity=identity,
        reach=engine.reach,
        repository=repo,
    )


def export_whole(base: Base, folder: Path, watch: Watch) -> None:
    """Export all of the commit a base was exported from in part."""
    assert base.repository and base.identity
    with unpacked(folder, (), watch) as partial:
        if partial:
            with watch.task(f"exporting {base.origin}"):
                _export(base.repository, base.identity.removeprefix("git-"), [], partial)


def _export(repo: Path, commit: str, parts: list[str], folder: Path) -> None:
    archive = folder / ".archive.tar"
    named = ["git", "-C", str(repo), "archive", "--format=tar", "-o", str(archive), commit, "--"]
    status, words = output([*named, *parts])
    if status:
        raise KernelError(
            full_disk("exporting the tree")
            if "No space left" in words
            else f"{repo}: {commit[:12]} could not be exported: {words.strip() or 'git failed'}"
        )
    for _ in pour(archive, [["tar", "-x", "-f", "-", "-C", str(folder)]]):
        pass
    archive.unlink()


def _commit(repo: Path, ref: str) -> str:
    if _git(repo, "rev-parse", "--git-dir")[0]:
        raise KernelError(
            f"{repo}: is not a git tree, so it has no {ref}.\n  Without --ref it is used as it is."
        )
    status, commit = _git(
        repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
    )
    if status:
        known = _git(repo, "for-each-ref", "--format=%(refname:short)")[1].splitlines()
        raise KernelError(f"{repo}: has no ref '{ref}'.{nearest(ref, known)}")
    return commit.strip()


def _git(repo: Path, *arguments: str) -> tuple[int, str]:
    return output(["git", "-C", str(repo), *arguments])
