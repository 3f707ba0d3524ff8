"""The user's own kernel tree: as it stands, or a git ref of it, exported."""

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from schedlab.base.errors import nearest
from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors, full_disk
from schedlab.kernels.engine import OLDEST, Engine, is_taken
from schedlab.kernels.headers import missing_headers
from schedlab.kernels.process import output
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import MUST_HAVE, Base, Shelf
from schedlab.kernels.unpacking import pour, unpacked

_LACKS = re.compile(r"cannot read|invalid object|unable to read|missing (blob|tree)")
"""What git says where a repository lacks an object."""


def series_and_release(makefile: str, where: str) -> tuple[str, str]:
    """Read the series and release from a kernel's top Makefile.

    Raises:
        KernelError: it is not a kernel tree, or of a series older than the simulator takes.
    """
    found = dict(
        re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(.*)$", makefile, re.M)
    )
    found = {key: value.partition("#")[0].strip() for key, value in found.items()}
    if not found.get("VERSION") or not found.get("PATCHLEVEL"):
        raise KernelError(f"{where}: is not a kernel tree (its Makefile names no version).")
    for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL"):
        if not re.fullmatch("[0-9]{1,4}", found.get(key) or "0"):
            raise KernelError(
                f"{where}: its Makefile has `{key} = {found[key][:40]}`, which is not a number."
            )
    series = f"{found['VERSION']}.{found['PATCHLEVEL']}"
    release = f"{series}.{found.get('SUBLEVEL') or 0}{found.get('EXTRAVERSION', '')}"
    if not is_taken(series):
        raise KernelError(
            f"{where}: is Linux {release}; the simulator takes Linux {OLDEST} and newer."
        )
    return series, release


LINKED = "Move the tree, or give a link to it."


def check_path(place: Path, advice: str) -> None:
    """Refuse a path that make cannot work with.

    Raises:
        KernelError: it has a blank, or a character that make reads as something else.
    """
    if re.search(r"[\s:$#'\"]", str(place)):
        raise KernelError(
            f"{place}: make cannot work with a blank or one of : $ # ' \" in a path.\n  {advice}"
        )


def tree_as_it_is(path: Path, name: str, engine: Engine) -> Base:
    """Describe a tree that is used where it stands.

    Raises:
        KernelError: it is not a whole kernel tree, cannot be read, or is too old.
    """
    tree = path.expanduser().absolute()
    with disk_errors(f"reading {path}"):
        if not tree.is_dir():
            raise KernelError(f"{path}: there is no such folder.")
        check_path(tree, LINKED)
        if not (tree / MUST_HAVE).is_file():
            raise KernelError(f"{path}: is not a kernel tree (no {MUST_HAVE} there).")
        if not (tree / "Makefile").is_file():
            check_whole(path, engine)
        makefile = (tree / "Makefile").read_text(encoding="utf-8", errors="replace")
    series, release = series_and_release(makefile, str(path))
    check_whole(path, engine)
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
    files = [part for part in engine.needs if part not in engine.reach]
    there = _listed(repo, commit, engine.reach) | _listed(repo, commit, (MUST_HAVE, *files))
    if MUST_HAVE not in there:
        raise KernelError(f"{path}: {ref} is not a kernel tree (no {MUST_HAVE} there).")
    if "Makefile" not in there:
        _check_whole(f"{path}: {ref}", engine, there)
    status, makefile = _git(repo, "show", f"{commit}:Makefile")
    if status:
        raise _lacks_objects(repo, makefile)
    series, release = series_and_release(makefile, f"{path}: {ref}")
    _check_whole(f"{path}: {ref}", engine, there)
    identity = f"git-{commit[:16]}"
    offered = _listed(repo, commit, engine.unpacked(series))
    parts = [part for part in engine.unpacked(series) if part in offered]
    folder = shelf.tree_folder(identity)
    with unpacked(folder, engine.unpacked(series), watch) as partial:
        if partial:
            with watch.task(f"exporting {ref}"):
                _export(repo, commit, parts, partial)
            _check_links(f"{path}: {ref}", partial)
            _check_headers(f"{path}: {ref}", engine, partial)
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


def tree_of_range(base: Base | None = None) -> Path:
    """Return the git tree that a range is of where none is named.

    It is the one that a kernel tree was taken from, else the one of the current folder.

    Raises:
        KernelError: neither is a git tree of a kernel.
    """
    known = [base.repository or base.tree] if base else []
    for folder in (*known, Path()):
        status, top = _git(folder, "rev-parse", "--show-toplevel")
        if not status and (Path(top) / MUST_HAVE).is_file():
            return Path(top)
    where = f"kernel tree {base.name} was not taken from a git tree, and " if base else ""
    raise KernelError(
        f"{where}the current folder is not in a git tree of a kernel."
        "\n  Name the git tree that has the commits: --tree PATH."
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
        if "No space left" in words:
            raise KernelError(full_disk("exporting the tree"))
        if _LACKS.search(words):
            raise _lacks_objects(repo, words)
        raise KernelError(
            f"{repo}: {commit[:12]} could not be exported: {words.strip() or 'git failed'}"
        )
    for _ in pour(archive, [["tar", "-x", "-f", "-", "-C", str(folder)]]):
        pass
    archive.unlink()


def _check_links(where: str, folder: Path) -> None:
    """Refuse an exported tree with a link that leads out of it: what it reads there may change."""
    inside = folder.resolve()
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            place = Path(above, name)
            if place.is_symlink() and not place.resolve().is_relative_to(inside):
                raise KernelError(
                    f"{where}: {place.relative_to(folder)} is a link to {place.readlink()}, which"
                    " is outside of the tree.\n  A tree that is used where it stands may have such"
                    " links: add it without --ref."
                )


def _listed(repo: Path, commit: str, parts: Sequence[str]) -> set[str]:
    """Return which of these files and folders a commit has."""
    status, words = _git(repo, "ls-tree", "--name-only", commit, "--", *parts)
    if status:
        raise _lacks_objects(repo, words)
    return set(words.splitlines())


def check_whole(path: Path, engine: Engine) -> None:
    """Refuse a tree in place without what every build of it would read.

    Raises:
        KernelError: it is not whole, or cannot be read.
    """
    tree = path.expanduser().absolute()
    with disk_errors(f"reading {path}"):
        parts = ((part, tree / part) for part in engine.needs)
        there = {part for part, place in parts if place.is_file() or place.is_dir()}
        _check_whole(str(path), engine, there)
        _check_headers(str(path), engine, tree)


def _check_whole(where: str, engine: Engine, there: set[str]) -> None:
    """Refuse a tree without what every build of it would read."""
    missing = [part for part in engine.needs if part not in there]
    if not missing:
        return
    folders = [part for part in missing if part in engine.reach]
    inside = tuple(f"{folder}/" for folder in folders)
    raise _only_part(where, [part for part in missing if not part.startswith(inside)])


def _check_headers(where: str, engine: Engine, tree: Path) -> None:
    """Refuse a tree without a header that a compiled source includes."""
    if missing := missing_headers(tree, engine.compiled, engine.headers):
        raise _only_part(where, missing)


def _only_part(where: str, named: Sequence[str]) -> KernelError:
    shown = ", ".join(named[:6]) + (f" and {len(named) - 6} more" if len(named) > 6 else "")
    return KernelError(
        f"{where}: is only part of a kernel tree; missing: {shown}."
        "\n  The simulator is made of these: take a whole tree, not a sparse or partial checkout."
    )


def _lacks_objects(repo: Path, words: str) -> KernelError:
    """Return the error of a repository without some of its content."""
    first = next((line for line in words.splitlines() if line.strip()), "git failed")
    return KernelError(
        f"{repo}: git cannot read this commit whole: {first[:200]}"
        f"\n  The repository lacks objects: `git -C {shlex.quote(str(repo))} fsck` lists them,"
        " a fresh clone brings them."
    )


def _commit(repo: Path, ref: str) -> str:
    if _git(repo, "rev-parse", "--git-dir")[0]:
        raise KernelError(
            f"{repo}: is not a git tree, so it has no {ref}.\n  Without --ref it is used as it is."
        )
    both = [f"refs/heads/{ref}", f"refs/tags/{ref}"]
    if not any(_git(repo, "show-ref", "--verify", "--quiet", each)[0] for each in both):
        raise KernelError(f"{repo}: '{ref}' is a branch and a tag; give {both[0]} or {both[1]}.")
    status, commit = _git(
        repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
    )
    if status:
        named, thing = _git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", ref)
        if named == 0:
            unreadable, kind = _git(repo, "cat-file", "-t", thing.strip())
            if kind.strip() == "commit":  # `:/WORDS` takes no more behind it
                return thing.strip()
            if not unreadable:
                raise KernelError(
                    f"{repo}: '{ref}' is a {kind.strip()}; --ref takes a commit, a branch or a tag."
                )
            raise _lacks_objects(repo, f"'{ref}' names a commit that is not there")
        known = _git(repo, "for-each-ref", "--format=%(refname:short)")[1].splitlines()
        raise KernelError(f"{repo}: has no ref '{ref}'.{nearest(ref, known)}")
    return commit.strip()


def _git(repo: Path, *arguments: str) -> tuple[int, str]:
    return output(["git", "-C", str(repo), *arguments])
