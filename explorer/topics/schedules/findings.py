"""Findings about schedules: sequences that agree, missing counterparts, who advances a schedule."""

from collections.abc import Iterator

from explorer.topics.attempts import raised, said_briefly
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES
from explorer.topics.schedules.counterparts import DECAYS
from explorer.topics.schedules.family import FORM_LABELS, call
from explorer.topics.schedules.questions import EXPORTED, PIECEWISE, TOPIC, USED
from explorer.topics.schedules.readings import (
    SAME,
    Exports,
    FamilyComparison,
    compare_all,
    exports,
    uncompared,
    used_rates,
)


@TOPIC.finding()
def same_rates(evidence: Evidence) -> Iterator[str]:
    """How many pairs of schedules give the same rates, and where the others part."""
    differences = []
    partings = []
    compared = 0
    for comparison in compare_all(evidence):
        if comparison.difference is None:
            continue
        compared += 1
        if comparison.same:
            differences.append(comparison.difference)
        if comparison.first_different_step is not None:
            partings.append(_parting(comparison, comparison.first_different_step))
    if compared:
        greatest = max(differences, default=0.0)
        yield (
            f"{len(differences)} of {compared} pairs of schedules give the same rates at every step"
            f" in both frameworks (greatest difference {greatest:.1e} of the greatest rate)."
        )
    yield from partings


def _parting(comparison: FamilyComparison, step: int) -> str:
    """What both frameworks have at the first step that differs."""
    family, reference = comparison.family, comparison.rates["torch"]
    different = []
    for form, rates in comparison.rates.items():
        # A list and a Cell of MindSpore may part from each other: only those that part are named.
        if abs(rates[step] - reference[step]) > SAME * max(reference):
            different.append(f"{family.schedule_name(form)} {rates[step]:.4g}")
    return (
        f"The rates of {family.name} part at step {step}: {', '.join(different)} (MindSpore);"
        f" {call(family.schedules['torch'])} {reference[step]:.4g} (PyTorch)."
    )


@TOPIC.finding()
def functions_of_ones_own(evidence: Evidence) -> Iterator[str]:
    """Which decays of MindSpore PyTorch has no scheduler for."""
    # Where the rates part, the function of one's own is no counterpart either.
    agreeing = [comparison for comparison in compare_all(evidence, DECAYS) if comparison.same]
    by_function = [comparison for comparison in agreeing if not comparison.has_own_scheduler]
    names = [comparison.family.name for comparison in by_function]
    if names:
        yield f"PyTorch needs a function of your own (LambdaLR) for: {'; '.join(names)}."


@TOPIC.finding()
def refused_schedules(evidence: Evidence) -> Iterator[str]:
    """The message of each schedule that is refused."""
    for comparison in compare_all(evidence):
        for form, message in comparison.refused.items():
            schedule = comparison.family.schedules[form]
            why = message.removesuffix(".")
            yield f"{FORM_LABELS[form]} {call(schedule)} is refused: {why}."


@TOPIC.finding(EXPORTED)
def exported_schedules(evidence: Evidence) -> Iterator[str]:
    """How many schedules there are, which only one framework has, and which are to be removed."""
    exported = exports(evidence)
    counts = [f"{len(exported[form])} × {label}" for form, label in FORM_LABELS.items()]
    yield f"Schedules that are exported: {', '.join(counts)}."
    for form, other, framework in (("torch", "hand", "PyTorch"), ("hand", "torch", "MindSpore")):
        alone = sorted(set(exported[form]) - set(exported[other]))
        yield f"Schedulers that only {framework} has: {', '.join(alone) or 'none'}."
    yield from _deprecated(exported)
    new = uncompared(exported)
    if new:
        yield f"Exported and not compared here: {', '.join(new)}."


def _deprecated(exported: Exports) -> Iterator[str]:
    counts = []
    notices = set()
    for form in ("list", "cell", "hand"):
        schedules = exported[form].values()
        # "" where the documentation has no such notice.
        form_notices = [schedule["deprecated"] for schedule in schedules if schedule["deprecated"]]
        counts.append(f"{len(form_notices)} of {len(schedules)} × {FORM_LABELS[form]}")
        notices.update(form_notices)
    if notices:
        yield f"Documented as deprecated: {', '.join(counts)} ({' / '.join(sorted(notices))})."


@TOPIC.finding()
def who_advances_a_schedule(evidence: Evidence) -> Iterator[str]:
    """Whether the optimizer advances the schedule or it waits for ``scheduler.step()``."""
    for party, ways in evidence[USED].items():
        for way, figure in ways.items():
            rates = used_rates(figure)
            if rates is None:
                yield f"{PARTIES[party].label}, {way}: {said_briefly(figure)}."
                continue
            # As differences of float32 weights, equal rates are equal to about 1e-8.
            distinct = {round(rate, 6) for rate in rates}
            moves = "moves at every update" if len(distinct) > 1 else "stays"
            listed = ", ".join(f"{rate:.4g}" for rate in rates)
            yield f"{PARTIES[party].label}, {way}: the rate {moves} ({listed})."


@TOPIC.finding(PIECEWISE)
def piecewise_constant(evidence: Evidence) -> Iterator[str]:
    """The sequence of the guide's example."""
    rates = evidence[PIECEWISE]["mindspore"]["rates"]
    outcome = said_briefly(rates) if raised(rates) else rates
    yield f"piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01]) gives {outcome}."
