"""What the study of schedules tells: which sequences agree, what has no counterpart, who moves a
schedule on.
"""

from explorer.model.study import Chart, Series
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.schedules import tables
from explorer.topics.schedules.comparing import (
    SAME,
    Inventory,
    Pair,
    inventory,
    own,
    pairs,
    written,
)
from explorer.topics.schedules.families import DECAYS
from explorer.topics.schedules.tables import KINDS, USED, unpaired, used_rates
from explorer.topics.studying import Telling

PIECEWISE = "schedules.piecewise.mindspore"
SHOWN = (
    "exponential",
    "natural exponential",
    "inverse",
    "cosine",
    "polynomial",
    "warm-up",
    "piecewise constant",
)
"""Families in the first chart; the others are variations of them."""


def tell(evidence: Evidence) -> Telling:
    """Findings, tables and charts of whatever was measured."""
    compared = pairs(evidence)
    there = inventory(evidence)
    charts = (_curves(compared), _parting(compared), _used(evidence))
    return Telling(
        findings=(
            *_of_pairs(compared),
            *_of_refusals(compared),
            *_of_names(there),
            *_of_use(evidence),
            *_of_piecewise(evidence),
        ),
        tables=(
            tables.families(compared, evidence),
            tables.used(evidence),
            tables.inventory(there),
            tables.defaults(there),
            tables.settings(compared),
        ),
        charts=tuple(chart for chart in charts if chart.series),
    )


def _of_pairs(compared: tuple[Pair, ...]) -> list[str]:
    both = [each for each in compared if each.difference is not None]
    if not both:
        return []
    same = [each for each in both if each.same]
    worst = max((each.difference or 0.0 for each in same), default=0.0)
    found = [
        f"{len(same)} of {len(both)} pairs of schedules give the same rates at every step in both frameworks"
        f" (greatest difference {worst:.1e} of the greatest rate)."
    ]
    for each in both:
        if each.parts is not None:
            step, theirs = each.parts, each.rates["torch"]
            apart = {
                form: rates
                for form, rates in each.rates.items()
                if abs(rates[step] - theirs[step]) > SAME * max(theirs)
            }
            names = ", ".join(
                f"{getattr(each.family, form)[0]} {rates[step]:.4g}"
                for form, rates in apart.items()
            )
            found.append(
                f"{each.family.name}: at step {step} MindSpore has {names}, {written(each.family.torch)} {theirs[step]:.4g}."
            )
    function = [
        each.family.name
        for each in compared
        if each.family in DECAYS and each.same and not own(each)
    ]
    if function:
        found.append(
            f"PyTorch gets {'; '.join(function)} only by a function of your own (LambdaLR)."
        )
    return found


def _of_refusals(compared: tuple[Pair, ...]) -> list[str]:
    return [
        f"{KINDS[form]} {written(getattr(each.family, form))} is refused: {message}"
        for each in compared
        for form, message in each.refused.items()
    ]


def _of_names(there: Inventory) -> list[str]:
    if not {"hand", "torch"} <= set(there):
        return []
    found = [
        "Exported: "
        + ", ".join(f"{len(there[form])} × {what}" for form, what in KINDS.items())
        + "."
    ]
    for one, other, whose in (("torch", "hand", "PyTorch"), ("hand", "torch", "MindSpore")):
        alone = sorted(set(there[one]) - set(there[other]))
        found.append(f"Schedulers that only {whose} has: {', '.join(alone) or 'none'}.")
    old = {
        form: [name for name, each in there[form].items() if each["deprecated"]]
        for form in ("list", "cell", "hand")
    }
    if any(old.values()):
        counts = ", ".join(
            f"{len(names)} of {len(there[form])} × {KINDS[form]}" for form, names in old.items()
        )
        words = sorted(
            {there[form][name]["deprecated"] for form, names in old.items() for name in names}
        )
        found.append(f"Documented as ending: {counts} ({' / '.join(words)}).")
    if new := unpaired(there):
        found.append(f"Exported and not compared here: {', '.join(new)}.")
    return found


def _of_use(evidence: Evidence) -> list[str]:
    found = []
    for framework, name in USED.items():
        for way, each in evidence.get(name, {}).items():
            rates = used_rates(each)
            if rates is None:
                found.append(f"{framework}, {way}: {said(each)}.")
                continue
            moves = (
                "moves at every update" if len({round(rate, 6) for rate in rates}) > 1 else "stays"
            )
            found.append(
                f"{framework}, {way}: the rate {moves} ({', '.join(f'{rate:.4g}' for rate in rates)})."
            )
    return found


def _of_piecewise(evidence: Evidence) -> list[str]:
    found = evidence.get(PIECEWISE, {})
    if not found:
        return []
    rates = found["rates"]
    return [
        f"piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01]): {said(rates) if raised(rates) else rates}."
    ]


def _curves(compared: tuple[Pair, ...]) -> Chart:
    return Chart(
        name="schedules-mindspore",
        title="What MindSpore's schedules do to a rate of 0.1",
        kind="line",
        x="step",
        y="learning rate",
        series=tuple(
            _curve(each.family.name, each.rates["list"])
            for each in compared
            if each.family.name in SHOWN and "list" in each.rates
        ),
        note="From the functions that return a list.",
    )


def _parting(compared: tuple[Pair, ...]) -> Chart:
    parting = [each for each in compared if each.parts is not None]
    return Chart(
        name="schedules-parting",
        title="Where the same settings give other rates",
        kind="line",
        x="step",
        y="learning rate",
        series=tuple(
            _curve(label, rates) for each in parting for label, rates in _distinct(each).items()
        ),
        note="; ".join(f"{each.family.name} parts at step {each.parts}" for each in parting) + ".",
    )


def _used(evidence: Evidence) -> Chart:
    ways = {
        f"{framework}, {way}": rates
        for framework, name in USED.items()
        for way, each in evidence.get(name, {}).items()
        if (rates := used_rates(each))
    }
    last = max(map(len, ways.values()), default=0)
    return Chart(
        name="schedules-used",
        title="Who moves the schedule on",
        kind="bars",
        x="",
        y="rate used",
        series=tuple(
            Series(f"update {step + 1}", tuple(ways), tuple(rates[step] for rates in ways.values()))
            for step in dict.fromkeys((0, last - 1))
            if ways
        ),
        note="The gradient is 1, so that the weight moves by the rate; a rate that has moved has a shorter second bar.",
    )


def _distinct(each: Pair) -> dict[str, list[float]]:
    """Each sequence once, under the names of the schedules that give it."""
    found: list[tuple[list[str], list[float]]] = []
    for form, rates in each.rates.items():
        near = (
            forms
            for forms, seen in found
            if max(abs(a - b) for a, b in zip(rates, seen, strict=True)) <= SAME
        )
        forms = next(near, None)
        if forms is None:
            found.append(([form], rates))
        else:
            forms.append(form)
    return {_label(each, forms): rates for forms, rates in found}


def _label(each: Pair, forms: list[str]) -> str:
    names = dict.fromkeys(getattr(each.family, form)[0] for form in forms)
    where = (
        ("PyTorch and MindSpore" if len(forms) > 1 else "PyTorch")
        if "torch" in forms
        else "MindSpore"
    )
    return f"{', '.join(names)} ({where})"


def _curve(name: str, rates: list[float]) -> Series:
    return Series(name, tuple(float(step) for step in range(len(rates))), tuple(rates))
