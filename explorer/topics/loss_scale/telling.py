"""What the figures of the loss-scale study say: findings, tables and charts; no framework here."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Literal

from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import number
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale import given
from explorer.topics.studying import Telling

STYLES = {
    "mindspore-graph": "MindSpore, graph",
    "mindspore-tape": "MindSpore, tape",
    "torch": "PyTorch",
}
NONE = "-"

ByStyle = dict[str, dict[str, Any]]
"""Figures of one question by engine; engines without any are left out."""


def tell(evidence: Evidence) -> Telling:
    """Findings, tables and charts of whatever was measured."""
    parts = [
        part(_found(evidence, question), _missing(evidence, question))
        for question, part in PARTS.items()
    ]
    return Telling(
        findings=tuple(finding for each in parts for finding in each.findings),
        tables=tuple(table for each in parts for table in each.tables),
        charts=tuple(chart for each in parts for chart in each.charts),
    )


def _found(evidence: Evidence, question: str) -> ByStyle:
    figures = {engine: evidence.get(f"loss-scale.{question}.{engine}") for engine in STYLES}
    return {engine: each for engine, each in figures.items() if each}


def _missing(evidence: Evidence, question: str) -> str:
    """Why some engines' cells are empty, in sentences; "" when none are."""
    names = {engine: f"loss-scale.{question}.{engine}" for engine in STYLES}
    why = {name: failure.message for name, failure in evidence.failures.items()}
    told = [
        f"{STYLES[engine]}: {why.get(name, 'not measured')}."
        for engine, name in names.items()
        if not evidence.get(name)
    ]
    return " ".join(told)


def alike(found: ByStyle, pick: Callable[[dict[str, Any]], Any]) -> list[tuple[str, Any]]:
    """What ``pick`` gives of each engine's figures; engines that agree stand together."""
    groups: list[tuple[list[str], Any]] = []
    for engine, figures in found.items():
        picked = pick(figures)
        same = next((names for names, value in groups if value == picked), None)
        if same is None:
            groups.append(([engine], picked))
        else:
            same.append(engine)
    return [(_together(names), value) for names, value in groups]


def _together(engines: list[str]) -> str:
    if len(engines) == len(STYLES):
        return "both frameworks"
    if [name.partition("-")[0] for name in engines] == ["mindspore", "mindspore"]:
        return "MindSpore"
    return " and ".join(STYLES[name] for name in engines)


def _table(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[Cell, ...]], *notes: str
) -> Table:
    return Table(title=title, columns=columns, rows=tuple(rows), note=" ".join(filter(None, notes)))


def shown(value: Any) -> str:
    """Nested numbers without needless decimals: [[2048, 4096, 6144]]; of an attempt that raised,
    its message.
    """
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return said(value) if raised(value) else f"{number(value):.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


# The sweep over scales


def _sweep(found: ByStyle, missing: str) -> Telling:
    scales = tuple(2.0**exponent for exponent in given.EXPONENTS)
    groups = [
        (dtype, who, lost)
        for dtype in given.DTYPES
        for who, lost in alike(found, itemgetter(dtype))
    ]
    kinds = ("underflow", "overflow", "error")
    rows = [
        (dtype, who, f"2^{given.EXPONENTS[at]}", *(lost[kind][at] for kind in kinds))
        for dtype, who, lost in groups
        for at in range(0, len(scales), 4)
    ]
    shares = [
        Series(f"{kind}, {dtype}, {who}", scales, tuple(lost[kind]))
        for dtype, who, lost in groups
        for kind in ("underflow", "overflow")
    ]
    errors = [
        Series(f"{dtype}, {who}", scales, tuple(lost["error"])) for dtype, who, lost in groups
    ]
    charts = (
        _by_scale("shares", "Gradients lost, by scale", "share of gradients", shares, "x"),
        _by_scale(
            "error",
            "Error of the unscaled gradients against float64",
            "mean relative error",
            errors,
            "x",
            "y",
        ),
    )
    columns = ("float", "where", "scale", "underflow to 0", "overflow", "mean relative error")
    note = "An element that is zero or not finite counts as wholly wrong."
    return Telling(
        findings=tuple(_swept(f"{dtype}, {who}", lost) for dtype, who, lost in groups),
        tables=(_table("Gradients over 34 powers of two, by scale", columns, rows, note, missing),),
        charts=charts if groups else (),
    )


def _by_scale(
    name: str, title: str, y: str, series: list[Series], *log: Literal["x", "y"]
) -> Chart:
    kept = tuple(each for each in series if any(each.y))
    return Chart(name=name, title=title, kind="line", x="loss scale", y=y, series=kept, log=log)


def _swept(name: str, lost: dict[str, list[float]]) -> str:
    under, over, error = lost["underflow"], lost["overflow"], lost["error"]
    if not any(under) and not any(over):
        return f"{name}: no gradient underflows or overflows at any scale; the mean relative error is {error[0]:.2g}."
    first, last = given.EXPONENTS[0], given.EXPONENTS[-1]
    best = error.index(min(error))
    return (
        f"{name}: at scale 2^{first} {_percent(under[0])} of the gradients are zero; at 2^{given.EXPONENTS[best]}, the best, "
        f"{_percent(under[best])} are zero and {_percent(over[best])} overflow (mean relative error {error[best]:.2g}); "
        f"at 2^{last} {_percent(over[-1])} overflow."
    )


# One small gradient


def _underflow(found: ByStyle, missing: str) -> Telling:
    groups = [
        (dtype, who, each)
        for dtype in given.DTYPES
        for who, each in alike(found, itemgetter(dtype))
    ]
    rows = [(dtype, who, *map(shown, figures.values())) for dtype, who, figures in groups]
    findings = [
        f"A gradient of 1e-8 in {dtype}, {who}: {shown(figures['without'])} without scaling, {shown(figures['scaled'])} when the "
        f"loss is scaled by 65536; unscaled in {dtype}: {shown(figures['unscaled there']).rstrip('.')}; cast to float32 first: "
        f"{shown(figures['unscaled in float32'])}."
        for dtype, who, figures in groups
        if number(figures["without"]) == 0
    ]
    columns = (
        "float",
        "where",
        "without scaling",
        "scaled by 65536",
        "unscaled in that float",
        "unscaled in float32",
    )
    return Telling(
        findings=tuple(findings), tables=(_table("A gradient of 1e-8", columns, rows, missing),)
    )


# The guide's example


def _guide_example(found: ByStyle, missing: str) -> Telling:
    rows, findings = [], []
    for who, (scaled, unscaled, finite) in alike(
        found, itemgetter("scaled", "unscaled", "all_finite")
    ):
        loss, gradient, loss_back, back = (
            shown(each[key]) for each in (scaled, unscaled) for key in ("loss", "gradient")
        )
        rows.append((who, loss, gradient, loss_back, back, finite))
        findings.append(
            f"The guide's net with its loss scaled by 1024, {who}: loss {loss}, gradient {gradient}; unscaled {loss_back} and "
            f"{back}; all finite: {finite}."
        )
    columns = (
        "where",
        "scaled loss",
        "scaled gradient",
        "unscaled loss",
        "unscaled gradient",
        "all finite",
    )
    return Telling(
        findings=tuple(findings),
        tables=(_table("The guide's example, loss scaled by 1024", columns, rows, missing),),
    )


# The life of a dynamic scaler


def _life(found: ByStyle, missing: str) -> Telling:
    mindspore = {engine: each for engine, each in found.items() if engine != "torch"}
    torch = {engine: each for engine, each in found.items() if engine == "torch"}
    lives = [*alike(mindspore, itemgetter("turns")), *alike(torch, itemgetter("turns"))]
    steps = tuple(float(step) for step in range(len(given.BATCHES)))
    series = tuple(
        Series(_scaler(who), steps, tuple(turn["scale"] for turn in turns)) for who, turns in lives
    )
    rows = [
        (step, slope, *(cell for _, turns in lives for cell in _turn(turns[step])))
        for step, slope in enumerate(given.BATCHES)
    ]
    columns = (
        "step",
        "slope",
        *(
            f"{what}, {_scaler(who)}"
            for who, _ in lives
            for what in ("scale", "overflow", "stepped")
        ),
    )
    note = f"Factor {given.FACTOR}, window {given.WINDOW}: the scalers are given the same settings and the same slopes."
    steep, calm = given.BATCHES.index(max(given.BATCHES)), given.BATCHES.index(min(given.BATCHES))
    chart = Chart(
        name="life",
        title="The scale through training",
        kind="steps",
        x="step",
        y="loss scale",
        series=series,
        log=("y",),
        note=f"A batch {max(given.BATCHES):g} times as steep comes at step {steep}, calm ones from step {calm} on.",
    )
    return Telling(
        findings=(*(lived(_scaler(who), turns) for who, turns in lives), *_same(lives)),
        tables=(
            _table(
                "The life of a dynamic scaler, step by step",
                columns,
                rows if lives else [],
                note,
                missing,
            ),
        ),
        charts=(chart,) if lives else (),
    )


def _same(lives: list[tuple[str, Any]]) -> list[str]:
    if len(lives) < 2:
        return []
    scales = [[turn["scale"] for turn in turns] for _, turns in lives]
    same = sum(len(set(step)) == 1 for step in zip(*scales, strict=True))
    names = " and ".join(_scaler(who) for who, _ in lives)
    return [
        f"With the same settings {names} have the same scale at {same} of {len(scales[0])} steps."
    ]


def _scaler(who: str) -> str:
    known = {
        "both frameworks": "DynamicLossScaler and GradScaler",
        "MindSpore": "DynamicLossScaler",
        "PyTorch": "GradScaler",
    }
    return known.get(who) or who.replace("MindSpore,", "DynamicLossScaler,").replace(
        "PyTorch", "GradScaler"
    )


def _turn(turn: dict[str, Any]) -> tuple[Cell, ...]:
    return turn["scale"], not turn["finite"], turn["stepped"]


def counts(turns: list[dict[str, Any]]) -> dict[str, int]:
    """What happened in a scaler's life: overflows, those skipped and those that shrank the scale,
    growths and those on time.
    """
    overflows = [turn for turn in turns if not turn["finite"]]
    grown = [at for at, turn in enumerate(turns) if turn["after"] > turn["scale"]]
    return {
        "overflows": len(overflows),
        "skipped": sum(not turn["stepped"] for turn in overflows),
        "shrunk": sum(turn["after"] == turn["scale"] / given.FACTOR for turn in overflows),
        "grown": len(grown),
        "on time": sum(
            all(turn["finite"] for turn in turns[max(at - given.WINDOW + 1, 0) : at + 1])
            for at in grown
        ),
        "stepped": sum(turn["stepped"] for turn in turns if turn["finite"]),
    }


def lived(scaler: str, turns: list[dict[str, Any]]) -> str:
    """The life of a scaler in a sentence, each clause counted."""
    told = counts(turns)
    return (
        f"{scaler}: {told['overflows']} of {len(turns)} steps overflow; {told['skipped']} of these are skipped, and after "
        f"{told['shrunk']} the scale is divided by {given.FACTOR}; it grows {told['grown']} times, {told['on time']} of them "
        f"after {given.WINDOW} finite steps in a row."
    )


# How low and how high


def _limits(found: ByStyle, missing: str) -> Telling:
    rows, findings, series = [], [], []
    for who, (down, up) in alike(found, itemgetter("down", "up")):
        name, ceiling = _scaler(who), max(map(number, up))
        rows += [
            (name, "overflow at every step", shown(down)),
            (name, "growth at every step", shown(up)),
        ]
        stays = "stays there" if down[-1] == down[-2] else "is still falling"
        findings.append(
            f"Overflow at every step takes the scale of {name} from {shown(down[0])} to {shown(down[-1])} in {len(down) - 1} "
            f"steps, and it {stays}; growth at every step takes it from {shown(up[0])} to {shown(ceiling)}."
        )
        series.append(
            Series(name, tuple(float(step) for step in range(len(down))), tuple(map(number, down)))
        )
    chart = Chart(
        name="floor",
        title="Overflow at every step",
        kind="steps",
        x="step",
        y="loss scale",
        series=tuple(series),
        log=("y",),
    )
    return Telling(
        findings=tuple(findings),
        tables=(
            _table(
                "How low and how high a scale goes",
                ("scaler", "what happens", "scales"),
                rows,
                missing,
            ),
        ),
        charts=(chart,) if series else (),
    )


# What is finite


def _finiteness(found: ByStyle, missing: str) -> Telling:
    cases = sorted({case for figures in found.values() for case in figures})
    rows = [
        (case, *(_verdict(found.get(engine, {}).get(case)) for engine in STYLES)) for case in cases
    ]
    findings = []
    for who, figures in alike(found, dict):
        told = {case: value for case, value in figures.items() if isinstance(value, bool)}
        wrong = [
            case
            for case, value in told.items()
            if value == any(mark in case for mark in ("inf", "nan"))
        ]
        how = (
            f"wrong about {'; '.join(wrong)}"
            if wrong
            else "right about zeros, the greatest float16, infinities and NaN"
        )
        findings.append(
            f"The check for finite gradients, {who}, asked about {len(told)} pairs of tensors: {how}."
        )
        refusals = sorted({said(value) for value in figures.values() if raised(value)})
        findings += [
            f"float16 gradients are refused by the check, {who}: {message}" for message in refusals
        ]
    columns = ("gradients", *STYLES.values())
    return Telling(
        findings=tuple(findings),
        tables=(_table("all_finite, and what GradScaler finds", columns, rows, missing),),
    )


def _verdict(value: Any) -> Cell:
    return NONE if value is None else said(value) if raised(value) else bool(value)


# Unscaling


def _unscaling(found: ByStyle, missing: str) -> Telling:
    rows: list[tuple[Cell, ...]] = []
    findings = []
    for who, errors in alike(found, itemgetter("error")):
        by_scale = sorted((float(scale), error) for scale, error in errors.items())
        rows += [
            (who, f"greatest relative error at scale {scale:g}", error) for scale, error in by_scale
        ]
        told = ", ".join(f"{error:.2g} at scale {scale:g}" for scale, error in by_scale)
        findings.append(
            f"Scaling and unscaling a float32 gradient moves an element, {who}, by a relative {told} at most."
        )
    for who, refused in alike(found, itemgetter("refused")):
        rows += [
            (who, what, said(told) if raised(told) else "accepted")
            for what, told in refused.items()
        ]
    columns = ("where", "what", "found")
    return Telling(
        findings=tuple(findings),
        tables=(_table("Unscaling, and what is refused", columns, rows, missing),),
    )


PARTS: dict[str, Callable[[ByStyle, str], Telling]] = {
    "sweep": _sweep,
    "underflow": _underflow,
    "guide_example": _guide_example,
    "life": _life,
    "limits": _limits,
    "finiteness": _finiteness,
    "unscaling": _unscaling,
}
"""How each question is told, in the order of telling."""
