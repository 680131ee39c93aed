"""The claim that frameworks differ mostly because their styles do (row 85)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.text.numbers import counted
from explorer.topics.attempts import raised
from explorer.topics.contrasts.axes import Axis, axis
from explorer.topics.contrasts.questions import ENGINES_ASKED, KINKS, MAIN_CASES, OPERATORS, TOPIC
from explorer.topics.evidence import Evidence

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
    seen: list[Observation] = []
    for kind, programs in asked_of_all(evidence).items():
        axes = {name: axis(answers) for name, answers in programs.items()}
        count = Counter(axes.values())
        total += count
        seen.append(_row(f"{kind} ({counted(len(programs), 'program')})", count))
        named = [name for name, along in axes.items() if along == "style"]
        if named:
            what = f"{kind} on which both tapes differ from both graphs"
            seen.append(Observation(what, ", ".join(named)))
    differing = sum(total.values()) - total[""]
    seen.append(_row(f"together ({counted(sum(total.values()), 'program')})", total))
    if 2 * total["style"] > differing:
        advice = "Where two frameworks differ, compare a tape with a tape first."
        return Ruling("holds", tuple(seen), advice)
    if not differing:
        advice = "Take what differs in your port for a mistake in it: these engines all agree."
    elif 2 * total["framework"] > differing:
        advice = "Look at the operator first where a port differs: most of it is the framework's."
    else:
        advice = "Compare all four engines where a port differs: no one axis explains most of it."
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


def _row(what: str, count: Mapping[Axis, int]) -> Observation:
    """How many programs differ along each axis; most of them along styles, says the statement."""
    differing = sum(count.values()) - count[""]
    value = (
        f"{differing} differ, {count['style']} by style, {count['framework']} by framework,"
        f" {count['other']} otherwise"
    )
    as_stated = 2 * count["style"] > differing if differing else None
    return Observation(what, value, expected=as_stated)
