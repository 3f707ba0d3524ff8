"""What a bisection found, as text: the answer first, then what it rests on."""

from collections.abc import Iterator

from schedlab.base.words import plural
from schedlab.lab.bisecting.record import Bisected, Commit
from schedlab.lab.bisecting.search import narrowed


def answer_text(record: Bisected) -> str:
    """Return the answer of a bisection that came to its end."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: Bisected) -> Iterator[str]:
    good, bad = narrowed(len(record.commits), record.answers)
    remaining = record.commits[good:bad]
    if len(remaining) == 1 and not record.confirmed:
        yield (
            f"no answer: {remaining[0].id[:12]} came out as the first bad commit, but the last run"
            " does not confirm it:"
        )
    elif len(remaining) == 1:
        yield f"{remaining[0].id} is the first bad commit: {remaining[0].subject}"
    else:
        yield f"the first bad commit is one of {len(remaining)}; those between give no answer:"
        for commit in remaining:
            yield f"  {_answered(commit)}"
    again = [commit for commit in record.commits[bad:] if commit.answer == "good"]
    if again:
        yield (
            f"{again[-1].id[:12]} after it is good again, so the range has more than one change:"
            f" search {again[-1].id[:12]}..{record.bad[:12]}, too"
        )
    yield ""
    yield f"asked: {record.asked.words}; {record.commits_asked}: {record.ends}"
    if record.final:
        yield "the first bad commit beside its parent, and the bad end beside it:"
        yield from (f"  {line}" for line in record.final.split("\n"))
    tried = sorted((c for c in record.commits if c.step), key=lambda commit: commit.step)
    for commit in tried:
        yield f"step {commit.step}: {_answered(commit)}"
    touch = "touches" if record.others == 1 else "touch"
    yield (
        f"{plural(len(record.commits) + record.others, 'commit')}, {record.others} of them {touch}"
        f" nothing that the simulator compiles; {plural(record.steps, 'step')},"
        f" {plural(record.builds, 'build')}, {plural(record.runs, 'run')},"
        f" {record.seconds / 60:.1f} minutes"
    )


def _answered(commit: Commit) -> str:
    why = f" ({commit.why.splitlines()[0]})" if commit.why else ""
    return f"{commit.id[:12]} {commit.answer or 'bad'}: {commit.subject}{why}"
