"""The claim that frameworks differ mostly because their styles do (row 85)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from explorer.model.claim import Observation, Ruling
from explorer.model.message import Message, message
from explorer.topics.attempts import raised
from explorer.topics.contrasts.questions import ENGINES_ASKED, KINKS, MAIN_CASES, OPERATORS, TOPIC
from explorer.topics.evidence import Evidence, flat_numbers
from explorer.topics.question import PARTIES, Party

Axis = Literal["", "style", "framework", "other"]
"""What tells the engines apart; "" where nothing does."""

NEAR = 1e-3
"""Up to this share of the greatest number two tensors are the same: far above rounding."""

FLOOR = 1e-6
"""Up to this difference two numbers are the same, however small the others are.

What is zero but for rounding, as the gradient of a bias before a batch norm, has no scale.
"""

Programs = Mapping[str, Mapping[str, Any]]
"""By program, the answer of each engine."""


@TOPIC.claim(
    85,
    "Most of what differs between the frameworks is tape against graph.",
    heading="tape and graph",
    guides=("ours",),
    would=(
        "of the programs on which four engines do not all agree, most part both tapes from both"
        " graphs"
    ),
    asks=(*MAIN_CASES.values(), *KINKS, OPERATORS),
)
def along_which_axis(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when more than half of the programs on which engines differ part along styles."""
    total: Counter[Axis] = Counter()
    # Kinks were chosen because a gradient there is a choice; without them the programs are any.
    without_kinks: Counter[Axis] = Counter()
    seen: list[Observation] = []
    for kind, programs in asked_of_all(evidence).items():
        count: Counter[Axis] = Counter()
        named = []
        for name, answers in programs.items():
            along = axis(answers)
            count[along] += 1
            if along == "style":
                named.append(name)
        total += count
        if kind != "kinks":
            without_kinks += count
        seen.append(_row(kind, count))
        if named:
            what = message("contrasts.by_style", kind=_kind(kind))
            seen.append(Observation(what, ", ".join(named)))
    seen.append(_row("together", total))
    seen.append(_row("without_kinks", without_kinks))

    differing = sum(total.values()) - total[""]
    if 2 * total["style"] > differing:
        return Ruling("holds", tuple(seen))
    advice = "framework" if 2 * total["framework"] > differing else ""
    return Ruling("does_not_hold", tuple(seen), advice)


def asked_of_all(evidence: Evidence) -> dict[str, Programs]:
    """The programs that every engine was asked, by kind and name."""
    return {
        "scenarios": dict(_scenarios(evidence)),
        "kinks": dict(_kinks(evidence)),
        "operators": dict(_operators(evidence)),
    }


def _scenarios(evidence: Evidence) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, question in MAIN_CASES.items():
        answers: dict[str, Any] = {}
        for figures in evidence[question].values():
            answers.update(figures["answers"])
        yield name, answers


def _kinks(evidence: Evidence) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for question in KINKS:
        by_engine = evidence[question]
        for name in by_engine[ENGINES_ASKED[0]]:
            yield name, {engine: by_engine[engine][name]["found"] for engine in ENGINES_ASKED}


def _operators(evidence: Evidence) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """First order alone: many second orders are not defined."""
    by_engine = evidence[OPERATORS]
    for name in by_engine[ENGINES_ASKED[0]]:
        answers = {engine: by_engine[engine][name]["first"] for engine in ENGINES_ASKED}
        # What an engine refuses of an operator, it has no gradient of: nothing is compared there.
        if not any(map(raised, answers.values())):
            yield name, answers


def _kind(kind: str) -> Message:
    return message(f"contrasts.{kind}")


def _row(kind: str, count: Mapping[Axis, int]) -> Observation:
    """How many programs differ along each axis; most of them along styles, says the statement."""
    programs = sum(count.values())
    differing = programs - count[""]
    counts = message(
        "contrasts.counts",
        differing=differing,
        style=count["style"],
        framework=count["framework"],
        other=count["other"],
    )
    as_stated = 2 * count["style"] > differing if differing else None
    what = message("contrasts.programs", kind=_kind(kind), n=programs)
    return Observation(what, counts, expected=as_stated)


def axis(answers: Mapping[str, Any]) -> Axis:
    """Along which axis the answers of all engines part.

    Along styles where both tapes agree, and both graphs, but not with each other; along frameworks
    in the same way. It is "other" where one engine stands alone, or no two pairs agree.
    """
    if _agree_within(answers, lambda party: ""):
        return ""
    if _agree_within(answers, lambda party: party.style):
        return "style"
    if _agree_within(answers, lambda party: party.library):
        return "framework"
    return "other"


def _agree_within(answers: Mapping[str, Any], group_of: Callable[[Party], str]) -> bool:
    """Whether engines of one group give the same."""
    first_of_group: dict[str, Any] = {}
    for name, answer in answers.items():
        first = first_of_group.setdefault(group_of(PARTIES[name]), answer)
        if not same(first, answer):
            return False
    return True


def same(one: Any, other: Any) -> bool:
    """Whether two answers are the same: both refused, or alike in names, shapes and numbers."""
    if raised(one) or raised(other):
        return raised(one) and raised(other)
    if one == other:
        return True  # most answers are equal to the last digit: no arrays are made of them
    if isinstance(one, dict):
        return set(one) == set(other) and all(same(one[name], other[name]) for name in one)
    numbers, other_numbers = np.array(flat_numbers(one)), np.array(flat_numbers(other))
    if numbers.shape != other_numbers.shape:
        return False
    both = np.concatenate([numbers, other_numbers])
    allowed = FLOOR + NEAR * np.abs(both[np.isfinite(both)]).max(initial=0.0)
    return bool(np.allclose(numbers, other_numbers, rtol=0, atol=allowed, equal_nan=True))
