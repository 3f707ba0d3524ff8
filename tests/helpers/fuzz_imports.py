"""Damages documents and result folders at random, and imports, reports, compares and merges them.

    python -m tests.helpers.fuzz_imports [COUNT [FIRST_SEED]]

Each mutation is made by its seed, in a worker of 2 GiB of memory and 10 s of CPU time for each.
Whatever is wrong with an input has to be one message; anything else is a finding, and its input is
kept. Ctrl-C prints what was done until then.
Exit status: 0 nothing found, 1 findings were printed.
"""

from __future__ import annotations

import base64
import json
import lzma
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

from rich.console import Console

from schedlab.base.errors import SchedlabError
from schedlab.benchmarks.metric import Metric
from schedlab.cli.side_by_side import print_sessions
from schedlab.importers.files import import_file
from schedlab.judging.analysis import analyse
from schedlab.judging.sessions import compare
from schedlab.plan.plan import Plan
from schedlab.report import Report, all_shapes
from schedlab.result.boots import Boot
from schedlab.result.folder import DATABASE
from schedlab.result.merge import merge
from schedlab.result.printed import Printed
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo, Store
from tests.helpers.report_store import COMMON, HACKBENCH, MACHINE, PLATFORM, SCHED_PIPE, make_store

MEMORY = 2 << 30
SECONDS = 10
"""Of CPU time, so that other load on the host makes no finding."""
DATA = Path(__file__).parents[1] / "data"
_COSTLY = ("html", "json", "terminal")
"""Shapes that are made of some inputs only, as comparisons are."""

_SHARES = {"terminal": 1, "json": 4, "store": 6}
"""How often kinds of inputs are chosen; there is more to go wrong in some."""

Outcome = tuple[str, str]
"""`imported`, `refused`, `traceback`, `hang` or `memory`, and what is to be said of it."""


class Hang(BaseException):
    """An input takes too long; no handler of ours may take it for something else."""


@dataclass(frozen=True)
class Original:
    """A whole input: a document, or the database of a result folder."""

    kind: str
    path: Path
    store: Path
    """A result to compare with."""


# --- What is damaged ---


def originals(folder: Path) -> list[Original]:
    """Write results of several kinds, and reports of them in every shape."""
    found = []
    for name, store in _stores(folder):
        with closing(store):
            report = Report(store, analyse(store))
            for shape in all_shapes().values():
                path = folder / f"{name}-{shape.name}.{shape.suffix}"
                path.write_text(shape.render(report), encoding="utf-8")
                found.append(Original(shape.name, path, store.folder))
        found.append(Original("store", store.folder / DATABASE, store.folder))
    some = found[0].store
    published = (*(DATA / "published").iterdir(), *(DATA / "report").iterdir())
    found += [Original("published", path, some) for path in sorted(published)]
    return found


def _stores(folder: Path) -> Iterator[tuple[str, Store]]:
    yield "blocks", make_store(folder / "blocks", COMMON, nr_blocks=6)
    failing = replace(HACKBENCH, failing={("NB-OFF", 1): "a | b"}, caveats=("capped: at a limit",))
    yield "failed", make_store(folder / "failed", [failing, SCHED_PIPE], nr_blocks=7)
    yield "boots", _of_boots(folder / "boots")
    yield "means", _of_means(folder / "means")


def _of_boots(folder: Path) -> Store:
    plan = Plan.model_validate(
        {
            "benchmark": [{"name": "HackbenchPipeThreads"}],
            "variant": [{"name": "Default"}, {"name": "NB-OFF"}],
            "blocks": {"looks": [3], "warmup": 0},
            "judging": {"unit": "boot"},
        }
    )
    boots = [Boot(f"boot-{i}", 2 * i) for i in range(3)]
    store = Store.create(
        folder, plan, MACHINE, dict(PLATFORM), [HACKBENCH.info()], "schedlab merge", boots=boots
    )
    for i in range(6):
        key = RunKey(HACKBENCH.label, ("Default", "NB-OFF")[i % 2], i // 2)
        store.add(RunRecord(key, i, i, HACKBENCH.command, metrics={"time": 5.0 + i / 7}))
    return store


def _of_means(folder: Path) -> Store:
    metric = Metric("time", "s", "lower", "Time (sec)")
    cases = [
        CaseInfo(f"Bench {n}-groups", "Bench", "", f"bench {n}", {"groups": n}, (metric,))
        for n in (1, 2, 4, 8, 16)
    ]
    plan = Plan.model_validate(
        {
            "target": "imported",
            "benchmark": [{"name": "Bench", "label": case.label} for case in cases],
            "variant": [{"name": "tip"}, {"name": "patch"}],
            "blocks": {"looks": [2], "warmup": 0},
            "judging": {"paired": False},
        }
    )
    printed = [Printed(case.label, "time", "patch", "mail:1", 0.1, 0.02, 0.03) for case in cases]
    store = Store.create(folder, plan, MACHINE, {"CPUs": "8"}, cases, "schedlab import", printed)
    for i, case in enumerate(cases):
        for j, variant in enumerate(("tip", "patch")):
            run = RunRecord(RunKey(case.label, variant, 0), 2 * i + j, 0, "")
            store.add(replace(run, metrics={"time": 3.5 + i + j / 9}))
    return store


# --- How ---

_NUMBERS = (
    *("0", "-0", "-1", "1e308", "1e-308", "1e999", "-1e999", "inf", "nan", "99999999999", "9" * 30),
    *("9" * 10_000, "1" * 90, "²", "١٢٣", "1_000", "0x10", "1e99999999999999999999", "4.", ".5"),
    *("9223372036854775808", "8193", "2147483648", "1,23", "5 %", "1" + ",000" * 40),
)
_WORDS = (
    *("", " ", "A B", "..", "../../x", "\x1b[31m", "\x9b31m", "\u202eabc", "\u2066", "\r", "\x00"),
    *(
        "x" * 600,
        "y" * 30_000,
        "-",
        "|",
        "~~~~",
        "# ",
        "o ",
        "=" * 40,
        "<p>",
        "&amp;",
        '"',
        "{",
        "[",
    ),
    *("null", "true", "1e5 (1%)", "a " * 3000, "1 (2 pct) " * 400, "\ufeff", "é" * 300, "ﬃ"),
)
_VALUES: tuple[object, ...] = (
    *(None, True, 0, -1, 2**63, 2**31, 10**40, 1e308, 5e-324, 1.5, "", "A B", "\ud800", "x" * 600),
    *([], {}, [[]], {"a": 1}, ["a"], "1", "0-99999999999", "\x1b[2J", float("nan"), float("inf")),
)


def mutated(rng: random.Random, content: bytes, kind: str) -> bytes:
    """Damage a document, once or several times."""
    ways = [_bytes, _lines, _numbers, _words, _cut]
    if kind == "json":
        ways += [_json] * 5
    if kind in ("html", "markdown"):
        ways += [_carried] * 5
    if kind == "store":
        ways = [_bytes, _cut, *[_rows] * 8]
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        content = rng.choice(ways)(rng, content)
    return content


def _bytes(rng: random.Random, content: bytes) -> bytes:
    found = bytearray(content)
    for _ in range(rng.choice((1, 4, 40))):
        if found:
            found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def _cut(rng: random.Random, content: bytes) -> bytes:
    begin, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return rng.choice((content[:end], content[begin:], content[:begin] + content[end:]))


def _lines(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    for _ in range(rng.choice((1, 3))):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(5):
            case 0:
                del lines[at : at + rng.choice((1, 5, 50))]
            case 1:
                lines[at], lines[other] = lines[other], lines[at]
            case 2:
                lines.insert(other, lines[at])
            case 3:
                lines[at] = lines[at] * rng.choice((2, 50))
            case _:
                lines[at : at + 2] = [b"".join(lines[at : at + 2])]
        lines = lines or [b""]
    return b"\n".join(lines)


def _replaced(rng: random.Random, content: bytes, is_part: Callable[[str], bool], by: str) -> bytes:
    text = content.decode("utf-8", "surrogateescape")
    spans: list[tuple[int, int]] = []
    begin = rng.randrange(len(text) + 1)
    for at in range(begin, min(len(text), begin + 2000)):
        if is_part(text[at]):
            end = at
            while end < len(text) and is_part(text[end]):
                end += 1
            spans.append((at, end))
            break
    for at, end in spans:
        text = text[:at] + by + text[end:]
    return text.encode("utf-8", "surrogateescape")


def _numbers(rng: random.Random, content: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 10))):
        content = _replaced(rng, content, lambda c: c in "0123456789.", rng.choice(_NUMBERS))
    return content


def _words(rng: random.Random, content: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 5))):
        content = _replaced(rng, content, str.isalpha, rng.choice(_WORDS))
    return content


def _json(rng: random.Random, content: bytes) -> bytes:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return content
    places: list[tuple[dict[str, object] | list[object], str | int]] = []

    def walk(value: object) -> None:
        keys: Sequence[str | int] = ()
        if isinstance(value, dict):
            keys = list(value)
        elif isinstance(value, list):
            keys = range(min(len(value), 40))
        for key in keys:
            places.append((value, key))  # type: ignore[arg-type]
            walk(value[key])  # type: ignore[index,call-overload]

    with suppress(RecursionError):
        walk(data)
    for _ in range(rng.choice((1, 1, 3))):
        if not places:
            break
        inside, key = rng.choice(places)
        with suppress(LookupError):
            if rng.random() < 0.2:
                del inside[key]  # type: ignore[arg-type]
            elif isinstance(inside, dict) and rng.random() < 0.2:
                inside[rng.choice(_WORDS)] = inside[key]  # type: ignore[index]
            else:
                inside[key] = rng.choice(_VALUES)  # type: ignore[index]
    return json.dumps(data, indent=1).encode()


def _carried(rng: random.Random, content: bytes) -> bytes:
    """Damage the data that a report carries, which stays JSON."""
    page = re.search(rb'id="schedlab-result">(.*)</script>', content, re.DOTALL)
    if page:
        return content[: page.start(1)] + _json(rng, page[1]) + content[page.end(1) :]
    text = re.search(rb"xz, base64\n(.*)-->", content, re.DOTALL)
    if not text:
        return content
    with suppress(ValueError, lzma.LZMAError):
        data = lzma.decompress(base64.b64decode(text[1]))
        packed = base64.encodebytes(lzma.compress(_json(rng, data)))
        return content[: text.start(1)] + packed + content[text.end(1) :]
    return content


def _rows(rng: random.Random, content: bytes) -> bytes:
    """Damage the tables of a database, which stays one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "db"
        path.write_bytes(content)
        with suppress(sqlite3.Error, UnicodeError), closing(sqlite3.connect(path)) as db:
            table = rng.choice(("about", "about", "run", "figure"))
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            column = rng.choice(columns or ["x"])
            values = [None, 0, -1, 1.5, 2**63 - 1, 1e308, float("inf"), "", b"\xff", "[", "{}", "x"]
            value = rng.choice([*values, *_WORDS])
            some = f"rowid IN (SELECT rowid FROM {table} ORDER BY random() LIMIT 1)"
            match rng.randrange(6):
                case 0:
                    db.execute(f"DELETE FROM {table} WHERE {some}")
                case 1:
                    db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
                case 2:
                    db.execute(f"ALTER TABLE {table} ADD COLUMN later TEXT")
                case 3 if table == "about":
                    row = db.execute(f"SELECT key, value FROM about WHERE {some}").fetchone()
                    text = _json(rng, row[1].encode()).decode()
                    db.execute("UPDATE about SET value = ? WHERE key = ?", (text, row[0]))
                case 4:
                    db.execute(f"DROP TABLE {table}")
                case _:
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE {some}", (value,))
            db.commit()
        return path.read_bytes()


# --- What is done with it ---


def attempt(original: Original, content: bytes, costly: bool, scratch: Path) -> Outcome:
    """Import or open an input, and do with it all that can be done; never raises."""
    name = os.fsdecode(b"damaged-\xff" if costly else b"damaged")
    path = scratch / f"{name}{original.path.suffix}"
    try:
        if original.kind == "store":
            (scratch / name).mkdir()
            (scratch / name / DATABASE).write_bytes(content)
            store = Store.open(scratch / name)
        else:
            path.write_bytes(content)
            store = import_file(path, scratch / "out", "schedlab import")
    except SchedlabError as error:
        left = [p for p in scratch.iterdir() if p not in (path, scratch / name)]
        if left:
            return "traceback", f"left behind: {left}"
        return _message(error, name)
    except Hang:
        return "hang", traceback.format_exc()
    except MemoryError:
        return "memory", traceback.format_exc()
    except BaseException:
        return "traceback", traceback.format_exc()
    try:
        with ExitStack() as stack:
            stack.enter_context(closing(store))
            whole = stack.enter_context(closing(Store.open(original.store)))
            _use(store, whole, costly, scratch)
    except Hang:
        return "hang", traceback.format_exc()
    except MemoryError:
        return "memory", traceback.format_exc()
    except SchedlabError as error:
        if original.kind == "store":
            return _message(error, name)
        return "traceback", f"imported, but cannot be reported: {error}"
    except BaseException:
        return "traceback", traceback.format_exc()
    return "imported", ""


def _message(error: SchedlabError, name: str) -> Outcome:
    text = str(error)
    if name not in text:
        return "traceback", f"the message does not name the file: {text}"
    if len(text) > 2000:
        return "traceback", f"the message has {len(text)} characters: {text[:300]}"
    return "refused", text


def _use(store: Store, whole: Store, costly: bool, scratch: Path) -> None:
    report = Report(store, analyse(store))
    for shape in all_shapes().values():
        if costly or shape.name not in _COSTLY:
            text = shape.render(report).encode(errors="backslashreplace").decode()
            if shape.name not in ("csv", "json"):
                bad = [c for c in text if not c.isprintable() and c not in "\n"]
                assert not bad, f"{shape.name} lets {bad[:5]} through"
    if costly:
        first, second = (store, whole) if len(report.records) % 2 else (whole, store)
        try:
            sessions = compare(first, second)
            print_sessions(first, second, sessions, Console(file=StringIO(), width=100))
        except SchedlabError as error:
            assert "in common" in str(error), error
    with suppress(SchedlabError):
        merge([store, whole], scratch / "merged", [3], "schedlab merge").close()


# --- The workers ---


def _work(pipe: Connection, sources: list[Original], seeds: Sequence[int]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def late(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    signal.signal(signal.SIGPROF, late)
    for seed in seeds:
        original, content, costly = case_of(seed, sources)
        scratch = Path(tempfile.mkdtemp())
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            outcome = attempt(original, content, costly, scratch)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            shutil.rmtree(scratch, ignore_errors=True)
        pipe.send((seed, original.kind, outcome))
        if outcome[0] in ("hang", "memory"):
            break  # what has been taken is given back by a fresh process


def case_of(seed: int, sources: list[Original]) -> tuple[Original, bytes, bool]:
    """Return the mutation of a seed: the original, the damaged content, and whether to do all."""
    rng = random.Random(seed)
    kinds = sorted({source.kind for source in sources})
    kind = rng.choices(kinds, [_SHARES.get(kind, 2) for kind in kinds])[0]
    original = rng.choice([source for source in sources if source.kind == kind])
    return original, mutated(rng, original.path.read_bytes(), kind), rng.random() < 0.15


def run(sources: list[Original], seeds: Sequence[int]) -> Iterator[tuple[int, str, Outcome]]:
    """Try mutations, in one worker at a time."""
    context = multiprocessing.get_context("fork")
    done = 0
    while done < len(seeds):
        receive, send = context.Pipe(duplex=False)
        worker = context.Process(target=partial(_work, send, sources, seeds[done:]))
        worker.start()
        send.close()
        try:
            with suppress(EOFError):
                while receive.poll(20 * SECONDS):
                    yield receive.recv()
                    done += 1
            worker.join(1)
        finally:
            worker.kill()
            worker.join()
        if worker.exitcode:
            original, _, _ = case_of(seeds[done], sources)
            how = "hang" if worker.exitcode == -signal.SIGKILL else "traceback"
            yield seeds[done], original.kind, (how, f"the worker ended with {worker.exitcode}")
            done += 1


def main(count: int = 20_000, first: int = 0) -> int:
    """Run the mutations; print a table, and what was found."""
    folder = Path(tempfile.mkdtemp())
    kept = Path(tempfile.gettempdir()) / "fuzz-imports"
    sources = originals(folder)
    counts: dict[str, Counter[str]] = {}
    findings: dict[str, list[int]] = {}
    with suppress(KeyboardInterrupt):  # what was done until then is printed
        for seed, kind, (how, why) in run(sources, range(first, first + count)):
            counts.setdefault(kind, Counter())[how] += 1
            if how not in ("imported", "refused"):
                line = f"{how}: {kind}: {why.strip().splitlines()[-1][:150]}"
                if line not in findings:
                    print(f"--- seed {seed}: {kind}\n{why}", flush=True)
                    kept.mkdir(exist_ok=True)
                    (kept / f"{seed}-{kind}").write_bytes(case_of(seed, sources)[1])
                findings.setdefault(line, []).append(seed)
    shutil.rmtree(folder)
    headings = ("imported", "refused", "traceback", "hang", "memory")
    print(f"{'input':10}{'mutations':>10}" + "".join(f"{each:>11}" for each in headings))
    total = Counter[str]()
    for kind, found in sorted(counts.items()):
        total += found
        print(f"{kind:10}{found.total():>10}" + "".join(f"{found[each]:>11}" for each in headings))
    print(f"{'all':10}{total.total():>10}" + "".join(f"{total[each]:>11}" for each in headings))
    for line, seeds in findings.items():
        print(f"{len(seeds)} x {line} (seed {seeds[0]})")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
