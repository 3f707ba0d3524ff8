"""The figures of the HTML page: matplotlib draws, the page's own style sheet colours.

Each gives an <svg> element to put into a page as it is: text stays text, colours are the page's
variables (so dark mode needs no second figure), every id is prefixed, nothing points outside.
"""

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator

from schedlab.base.printable import printable
from schedlab.benchmarks.exhibits import Panel
from schedlab.benchmarks.metric import Metric
from schedlab.judging.analysis import Outcome
from schedlab.report.content import DISTURBED
from schedlab.report.curve import Drawn, Point
from schedlab.report.wording import (
    exact,
    fitted,
    is_evidence,
    points,
    share,
)
from schedlab.result.record import RunRecord

PHONE = 370
"""Width of a figure in CSS pixels: it fits a phone as it is."""
DESKTOP = 1080
CURVE = 640

MARKERS = "osDv^P"
GLYPHS = "●■◆▼▲✚"
"""What each of MARKERS looks like in text."""

_NAMES = ("ink", "faint", "band", "page", "better", "worse", "same")
_INK, _FAINT, _BAND, _PAGE, _BETTER, _WORSE, _SAME = (f"#00000{n}" for n in range(len(_NAMES)))
_SERIES = tuple(f"#00001{n}" for n in range(6))
_VARIABLES = {
    **{f"#00000{n}": f"var(--{name})" for n, name in enumerate(_NAMES)},
    **{colour: f"var(--v{n})" for n, colour in enumerate(_SERIES)},
}
"""Colours nobody sees, and the page's variable each of them stands for."""

_WORD_MARKERS = {"better": "^", "worse": "v", "equivalent": "s"}
_WORD_COLOURS = {"better": _BETTER, "worse": _WORSE, "equivalent": _SAME}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "schedlab",
    "text.parse_math": False,
    "axes.unicode_minus": False,
    "font.size": 11,
    "text.color": _INK,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "axes.linewidth": 0.8,
}
_NO_METADATA: dict[str, str | None] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_FARTHEST = 1.0
"""A forest plot does not show changes beyond +-100 %; an arrow and the figure stand for them."""


@dataclass(frozen=True)
class Caption:
    """What a figure is called and what it shows, for those who do not see it."""

    name: str
    title: str
    description: str


@dataclass(frozen=True)
class Row:
    """One line of the forest plot."""

    name: str
    outcome: Outcome


def forest(rows: Sequence[Row], margin: float, width: int) -> Markup:
    """Draw effects with their adjusted intervals over the band in which they count as none.

    On a narrow figure names stand above their intervals, on a wide one beside them.
    """
    beside = width > 2 * PHONE
    pitch = 22 if beside else 36
    with _figure(width, pitch * len(rows) + 44) as figure:
        longest = max((len(row.name) for row in rows), default=0)
        left, right = (min(7 * longest + 16, 300), 150) if beside else (8, 8)
        axes = _axes(figure, left, right, 6, 38)
        reach = _reach(rows, margin)
        for place, row in enumerate(rows):
            _forest_row(axes, place, row, margin, reach, beside)
        axes.axvline(0, color=_FAINT, linewidth=0.8, zorder=1)
        axes.set_xlim(-reach, reach)
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.5 if beside else -0.7)
        axes.set_yticks([])
        axes.xaxis.set_major_locator(MaxNLocator(9 if beside else 5))
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+g}" if value else "0")
        axes.set_xlabel("change in %, positive = better")
        axes.spines["left"].set_visible(False)
        said = "; ".join(_spoken(row) for row in rows)
        caption = Caption(
            f"forest{width}", "Change of every result, with its adjusted interval", said
        )
        return _svg(figure, caption)


def _reach(rows: Sequence[Row], margin: float) -> float:
    """Return how far the axis goes: to the estimates and most of their intervals."""
    verdicts = [row.outcome.verdict for row in rows]
    effects = [abs(v.effect_better) for v in verdicts if v.effect_better is not None]
    bounds = [max(map(abs, v.interval_adjusted_better or (0.0, 0.0))) for v in verdicts]
    # A few results far out would press all the others together; arrows stand for them.
    usual = sorted(effects)[(3 * len(effects)) // 4 - 1] if len(effects) > 1 else math.inf
    near = [effect for effect in effects if effect <= 5 * max(usual, margin)]
    widest = max([*near, 2.5 * margin]) * 1.25
    return min(max([widest, *(b * 1.05 for b in bounds if b < 2 * widest)]), _FARTHEST)


def _forest_row(
    axes: Axes, place: int, row: Row, margin: float, reach: float, beside: bool
) -> None:
    verdict = row.outcome.verdict
    y = place if beside else place + 0.16
    low, high = -margin / (1 + margin), margin
    if verdict.better == "lower":
        low, high = -high, -low
    axes.barh(place, high - low, left=low, height=1.0, color=_BAND, zorder=0)
    evidence = is_evidence(verdict)
    colour = _WORD_COLOURS.get(verdict.word, _INK) if evidence else _FAINT
    marker = _WORD_MARKERS.get(verdict.word, "o") if evidence else "o"
    effect = verdict.effect_better
    said = verdict.name
    if effect is not None:
        said = f"{points(effect)} %  {said}"
        bounds = verdict.interval_adjusted_better
        if bounds:
            ends = [min(max(bound, -reach), reach) for bound in bounds]
            axes.plot(ends, [y, y], color=colour, linewidth=1.6, solid_capstyle="butt", zorder=2)
        at = min(max(effect, -0.985 * reach), 0.985 * reach)
        beyond = "<" if at > effect else ">" if at < effect else marker
        axes.plot(
            [at], [y], marker=beyond, markersize=6.5, color=colour, zorder=3, clip_on=False,
            markerfacecolor=colour if evidence else _PAGE, markeredgecolor=colour,
        )  # fmt: skip
    name = fitted(printable(row.name), 44 if beside else 30)
    if beside:
        _beside(axes, 0.0, -10, y, name, "right")
        _beside(axes, 1.0, 10, y, said, "left")
    else:
        _beside(axes, 0.0, 0, place - 0.28, name, "left")
        _beside(axes, 1.0, 0, place - 0.28, said, "right")


def _beside(axes: Axes, x: float, shift: float, y: float, text: str, align: str) -> None:
    axes.annotate(
        text,
        xy=(x, y),
        xycoords=("axes fraction", "data"),
        xytext=(shift, 0),
        textcoords="offset points",
        horizontalalignment=align,
        verticalalignment="center",
        annotation_clip=False,
    )


def _spoken(row: Row) -> str:
    verdict = row.outcome.verdict
    return f"{printable(row.name)}: {points(verdict.effect_better)} %, {verdict.name}"


def strip(
    runs: Sequence[RunRecord],
    metric: str,
    variants: Sequence[str],
    means: Mapping[str, float | None],
    caption: Caption,
) -> Markup:
    """Draw every run in run order, warm-up runs small and failed runs as crosses at the bottom."""
    with _figure(PHONE, 170) as figure:
        axes = _axes(figure, 58, 8, 8, 34)
        titles: dict[str, list[str]] = {}
        for which, variant in enumerate(variants):
            mine = [run for run in runs if run.key.variant == variant and metric in run.metrics]
            for group, size in (("warmup", 2.0), ("run", 4.0)):
                drawn = [run for run in mine if run.key.warmup == (group == "warmup")]
                gid = f"{group}{which}"
                titles[gid] = [_run_title(run, metric) for run in drawn]
                x = [run.position for run in drawn]
                y = [run.metrics[metric] for run in drawn]
                _marks(axes, which, x, y, gid=gid, markersize=size, markeredgewidth=0.0)
            mean = means.get(variant)
            if mean is not None:
                axes.axhline(mean, color=_look(which)[0], linewidth=0.9, zorder=0)
        failed = [run for run in runs if run.status == "failed"]
        titles["failed"] = [_run_title(run, metric) for run in failed]
        x = [run.position for run in failed]
        look = {"marker": "x", "markersize": 6.0, "markeredgewidth": 1.6, "color": _WORSE}
        at_the_bottom = axes.get_xaxis_transform()
        _marks(axes, 0, x, [0.02] * len(failed), gid="failed", transform=at_the_bottom, **look)
        axes.margins(x=0.02, y=0.12)
        _not_too_close(axes)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(lambda value, _: _tick(value))
        axes.set_xlabel("run order")
        return _svg(figure, caption, titles)


def _not_too_close(axes: Axes) -> None:
    """Keep runs that differ by next to nothing, or not at all, from looking scattered."""
    low, high = axes.get_ylim()
    middle = (low + high) / 2
    if high - low < 0.002 * abs(middle):
        axes.set_ylim(0.999 * middle, 1.001 * middle)


def _run_title(run: RunRecord, metric: str) -> str:
    what = exact(run.metrics[metric]) if metric in run.metrics else f"failed: {run.error}"
    kind = "warm-up " if run.key.warmup else ""
    return printable(f"run {run.position}, {run.key.variant}, {kind}block {run.key.block}: {what}")


def curve(sweep: Drawn, variants: Sequence[str], name: str, width: int) -> Markup:
    """Draw metrics and idle states against the parameter of a sweep, one above the other.

    Dotted lines mark the states' target residencies.
    """
    panels: list[_Draw] = [partial(_panel, panel) for panel in sweep.how.panels]
    panels += [_shares] if sweep.states else []
    with _figure(width, _PANEL * len(panels) + 58) as figure:
        titles: dict[str, list[str]] = {}
        for place, draw in enumerate(panels):
            below = 38 + _PANEL * (len(panels) - 1 - place)
            axes = _axes(figure, 58, 60, 20 + _PANEL * place, below + 12)
            axes.set_xscale("log")
            for which, variant in enumerate(variants):
                draw(axes, which, sweep.of(variant), sweep.how.unit, titles)
            _mark_residencies(axes, sweep, named=place == 0)
            axes.set_xlim(0.8 * min(sweep.axis.values), 1.25 * max(sweep.axis.values))
            _one_two_five(axes.xaxis)
            if place < len(panels) - 1:
                axes.xaxis.set_major_formatter(NullFormatter())
        axes.set_xlabel(sweep.how.along)
        caption = Caption(name, sweep.how.content, "The figures are in the table below.")
        return _svg(figure, caption, titles)


def sweep(
    series: Mapping[str, Sequence[tuple[int, float]]], parameter: str, caption: Caption, width: int
) -> Markup:
    """Draw the mean of each variant, in their order, against the parameter of a sweep."""
    with _figure(width, 210) as figure:
        axes = _axes(figure, 86, 16, 12, 38)
        axes.set_xscale("log")  # a sweep's values are counts, from 1 on
        titles: dict[str, list[str]] = {}
        for which, (variant, measured) in enumerate(series.items()):
            x, y = [value for value, _ in measured], [mean for _, mean in measured]
            titles[f"sweep{which}"] = [
                printable(f"{variant}, {value:,} {parameter}: {exact(mean)}")
                for value, mean in measured
            ]
            axes.plot(x, y, color=_look(which)[0], linewidth=1.2)
            _marks(axes, which, x, y, gid=f"sweep{which}")
        _scale_up(axes, [mean for measured in series.values() for _, mean in measured])
        axes.xaxis.set_major_locator(FixedLocator(_apart(series, width)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel(printable(parameter))
        return _svg(figure, caption, titles)


_FAR_APART = 20
"""Figures of a sweep with this ratio between them stand on a logarithmic axis."""


def _scale_up(axes: Axes, values: Sequence[float]) -> None:
    """Let the axis begin at 0, or be logarithmic where its values are far apart."""
    if values and max(values) > _FAR_APART * min(values):
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(lambda value, _: _tick(value))


_LABEL = 36
"""CSS pixels that the name of a value takes on an axis."""


def _apart(series: Mapping[str, Sequence[tuple[int, float]]], width: int) -> list[float]:
    """Return those values of a sweep that can be named without running into each other."""
    values = sorted({value for measured in series.values() for value, _ in measured})
    whole = math.log(values[-1] / values[0]) if len(values) > 1 else 1.0
    named: list[float] = []
    for value in values:
        if not named or math.log(value / named[-1]) / whole * width > _LABEL:
            named.append(value)
    return named


_PANEL = 140
"""Height of one of the parts of a curve, in CSS pixels."""

_Draw = Callable[[Axes, int, Sequence[Point], str, dict[str, list[str]]], None]
"""Draws a variant's points into one of them; the parameter's unit is that of the points."""


def _line(
    axes: Axes,
    which: int,
    points: Sequence[tuple[Point, float]],
    what: str,
    unit: str,
    titles: dict[str, list[str]],
    **style: Any,
) -> None:
    colour = _look(which)[0]
    gid = f"{what}{which}".replace(" ", "-")
    titles[gid] = [
        printable(f"{point.variant}, {point.value} {unit}: {what} {exact(value)}")
        for point, value in points
    ]
    x = [point.value for point, _ in points]
    y = [value for _, value in points]
    # The line apart from its marks, which are explained one by one.
    axes.plot(x, y, color=colour, linewidth=1.2, linestyle=style.get("linestyle", "-"))
    inside = _PAGE if style.get("hollow") else colour
    _marks(axes, which, x, y, gid=gid, markerfacecolor=inside, markeredgecolor=colour)


def _marks(axes: Axes, which: int, x: Sequence[float], y: Sequence[float], **how: Any) -> None:
    """Draw the points of a variant, without a line."""
    colour, marker = _look(which)
    look = {"marker": marker, "markersize": 4.5, "color": colour, **how}
    axes.plot(x, y, linestyle="none", clip_on=False, **look)


def _measured(points: Sequence[Point], metric: Metric) -> list[tuple[Point, float]]:
    return [(point, point.metrics[metric]) for point in points if metric in point.metrics]


def _panel(
    panel: Panel,
    axes: Axes,
    which: int,
    points: Sequence[Point],
    unit: str,
    titles: dict[str, list[str]],
) -> None:
    """Draw the lines of a variant."""
    if panel.logarithmic:
        axes.set_yscale("log")
    for line in panel.lines:
        measured = _measured(points, line.metric)
        style = {"linestyle": "--", "hollow": True} if line.hollow else {}
        _line(axes, which, measured, line.called, unit, titles, **style)
        if which == 0 and measured and line.end:
            _at_end(axes, measured[-1][1], line.end)
    axes.set_ylabel(panel.unit)
    if panel.logarithmic:
        _one_two_five(axes.yaxis)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(lambda value, _: _tick(value))


def _one_two_five(axis: Axis) -> None:
    """Name 1, 2, 5, 10 and so on along a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(lambda value, _: _tick(value))
    axis.set_minor_formatter(NullFormatter())


def _shares(
    axes: Axes, which: int, points: Sequence[Point], unit: str, titles: dict[str, list[str]]
) -> None:
    states = dict.fromkeys(state for point in points for state in point.shares)
    for number, state in enumerate(states):
        measured = [(point, point.shares[state]) for point in points if state in point.shares]
        style = {"linestyle": _DASHES[number % len(_DASHES)], "hollow": number % 2 == 0}
        _line(axes, which, measured, f"share of {state}", unit, titles, **style)
        if which == 0:
            _at_end(axes, measured[-1][1], state)
    axes.set_ylim(0, 105)
    axes.set_ylabel("idle, %")


_DASHES = ("--", "-", "-.", ":")


def _at_end(axes: Axes, y: float, text: str) -> None:
    axes.annotate(
        fitted(printable(text), 9),
        xy=(1.0, y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(4, 0),
        textcoords="offset points",
        verticalalignment="center",
        annotation_clip=False,
    )


def _mark_residencies(axes: Axes, sweep: Drawn, named: bool) -> None:
    low, high = min(sweep.axis.values), max(sweep.axis.values)
    for state, residency in sweep.residencies.items():
        if not low <= residency <= high:
            continue
        axes.axvline(residency, color=_FAINT, linewidth=0.9, linestyle=":", zorder=0)
        if named:
            axes.annotate(
                fitted(printable(state), 12),
                xy=(residency, 1.0),
                xycoords=axes.get_xaxis_transform(),
                xytext=(0, 3),
                textcoords="offset points",
                horizontalalignment="center",
                annotation_clip=False,
            )


def disturbance(records: Sequence[RunRecord]) -> Markup:
    """Draw the part of all CPUs that others took during each run, in run order."""
    known = [record for record in records if record.busy_during is not None]
    worst = max((record.busy_during or 0 for record in known), default=0.0)
    with _figure(PHONE, 130) as figure:
        axes = _axes(figure, 58, 8, 8, 34)
        # One broken line: as many strokes would be ten times the size.
        x = [at for record in known for at in (record.position, record.position, math.nan)]
        y = [at for record in known for at in (0.0, record.busy_during or 0.0, math.nan)]
        axes.plot(x, y, color=_INK, linewidth=0.8, solid_capstyle="butt")
        axes.axhline(DISTURBED, color=_WORSE, linewidth=0.8, linestyle="--")
        axes.set_ylim(0, max(worst, DISTURBED) * 1.15)
        axes.set_xlim(-0.5, max((record.position for record in known), default=0) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        axes.set_xlabel("run order")
        said = f"At most {share(worst)}; the dashed line marks {share(DISTURBED)}."
        return _svg(
            figure, Caption("disturbance", "CPU taken by other processes during each run", said)
        )


def waits(curves: Mapping[str, Sequence[tuple[float, float]]], caption: Caption) -> Markup:
    """Draw, for each variant, the part of wakeups that waited longer than so many us."""
    with _figure(PHONE, 220) as figure:
        axes = _axes(figure, 58, 10, 8, 38)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for which, points in enumerate(curves.values()):
            colour, _ = _look(which)
            axes.step(
                [us for us, _ in points],
                [part for _, part in points],
                where="post",
                color=colour,
                linewidth=1.5,
                linestyle=_CURVE_LINES[which % len(_CURVE_LINES)],
            )
        axes.xaxis.set_major_locator(LogLocator(numticks=6))
        axes.xaxis.set_major_formatter(lambda value, _: _tick(value))
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.10g} %")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("us from waking to running; up: part that waited longer")
        return _svg(figure, caption)


_CURVE_LINES = ("-", "--", "-.", ":")


def percentiles(
    families: Mapping[str, Sequence[tuple[float, float]]], unit: str, caption: Caption
) -> Markup:
    """Draw a benchmark's own percentiles: its values by variant, each with its percentage."""
    with _figure(PHONE, 200) as figure:
        axes = _axes(figure, 66, 16, 8, 38)
        values = [value for points in families.values() for _, value in points]
        percents = sorted({percent for points in families.values() for percent, _ in points})
        for which, points in enumerate(families.values()):
            at = [percents.index(percent) for percent, _ in points]
            y = [v for _, v in points]
            axes.plot(at, y, color=_look(which)[0], linewidth=1.2)
            _marks(axes, which, at, y)
        _scale_up(axes, values)
        axes.set_xticks(range(len(percents)), [f"p{percent:g}" for percent in percents])
        axes.set_xlabel(printable(f"percentile; up: {unit}"))
        return _svg(figure, caption)


def variant_class(which: int) -> str:
    """Return the style class that colours a variant's name as its points are."""
    return f"v{which % len(_SERIES)}"


def variant_glyph(which: int) -> str:
    """Return the sign of a variant's points."""
    return GLYPHS[_marker(which)]


def _look(which: int) -> tuple[str, str]:
    return _SERIES[which % len(_SERIES)], MARKERS[_marker(which)]


def _marker(which: int) -> int:
    """Return a variant's marker: when the colours begin again, the markers are others."""
    return (which + which // len(_SERIES)) % len(MARKERS)


def _tick(value: float) -> str:
    return f"{value:,.10g}" if 1e-4 <= abs(value) < 1e9 or not value else f"{value:.3g}"


@contextmanager
def _figure(width: int, height: int) -> Iterator[Figure]:
    """Return a figure of so many CSS pixels, a point being one, drawn in the page's colours."""
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # Names may hold letters matplotlib's own font lacks; the browser has its own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        yield figure


def _axes(figure: Figure, left: int, right: int, top: int, bottom: int) -> Axes:
    """Return axes that leave so many pixels around them, framed at the left and below only."""
    width, height = (72 * inches for inches in figure.get_size_inches())
    box = (left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height)
    axes = figure.add_axes(box)
    axes.patch.set_visible(False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3)
    return axes


def _svg(
    figure: Figure, caption: Caption, titles: Mapping[str, Sequence[str]] | None = None
) -> Markup:
    """Return the figure as an element for a page; `titles` are what the points of a gid say."""
    page = io.BytesIO()
    figure.savefig(page, format="svg", metadata=_NO_METADATA)
    drawn = ElementTree.fromstring(page.getvalue())
    for element in list(drawn):
        if element.tag == f"{_SVG}metadata" or element.find(f"{_SVG}style") is not None:
            drawn.remove(element)
    for gid, texts in (titles or {}).items():
        _explain_points(drawn, gid, texts)
    for element in drawn.iter():
        _adopt(element, caption.name)
    return Markup(ElementTree.tostring(_frame(drawn, caption), encoding="unicode"))


def _explain_points(drawn: ElementTree.Element, gid: str, texts: Sequence[str]) -> None:
    """Title each point of a group; their common style moves to the group."""
    group = drawn.find(f".//*[@id='{gid}']")
    if group is None:
        return
    points = list(group.iter(f"{_SVG}use"))
    for point, text in zip(points, texts, strict=False):
        group.set("style", point.attrib.pop("style", ""))
        ElementTree.SubElement(point, "title").text = text


def _adopt(element: ElementTree.Element, prefix: str) -> None:
    """Make an element fit the page: no namespace, ids of its own, the page's colours and font."""
    element.tag = element.tag.removeprefix(_SVG)
    if element.tag == "g":
        element.attrib.pop("id", None)
    elif "id" in element.attrib:
        element.set("id", f"{prefix}-{element.get('id')}")
    if _HREF in element.attrib:
        element.set("href", f"#{prefix}-{element.attrib.pop(_HREF)[1:]}")
    if "clip-path" in element.attrib:
        element.set("clip-path", element.attrib["clip-path"].replace("#", f"#{prefix}-"))
    style = element.get("style", "")
    if style:
        style = re.sub(r"#[0-9a-f]{6}", lambda match: _VARIABLES.get(match[0], match[0]), style)
        element.set("style", re.sub(r"font(-family)?: ([\d.]+px )?[^;]*'[^;]*(; )?", "", style))
    if element.text and not element.text.strip():
        element.text = None
    element.tail = None


def _frame(drawn: ElementTree.Element, caption: Caption) -> ElementTree.Element:
    """Return the outer element, with what it shows in words."""
    title_id, words_id = f"{caption.name}-title", f"{caption.name}-words"
    width = (drawn.get("width") or "").removesuffix("pt")
    frame = ElementTree.Element(
        "svg",
        {
            "viewBox": drawn.get("viewBox") or "",
            "width": width,
            "role": "img",
            "aria-labelledby": f"{title_id} {words_id}",
        },
    )
    ElementTree.SubElement(frame, "title", id=title_id).text = printable(caption.title)
    ElementTree.SubElement(frame, "desc", id=words_id).text = printable(caption.description)
    frame.extend(drawn)
    return frame
