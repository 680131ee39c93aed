"""The claim about higher orders: nested gradients, their values and what they cost."""

from itertools import pairwise
from typing import Any

from explorer.model.claim import Ruling
from explorer.model.engines import ENGINES
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import given, nodes, operators
from explorer.topics.higher_order.reading import NEAR, apart
from explorer.topics.higher_order.telling_derivatives import outcome
from explorer.topics.styles import MINDSPORE, NAMES, by_style
from explorer.topics.topic import Claim

GROUP = "by shape"
DOUBLED = (*MINDSPORE, "torch-tape")
"""Whose second derivatives of single operators are looked at."""


def _nesting(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    figures = {engine: evidence[nodes(engine).name] for engine in ENGINES}
    counts = {
        engine: [_count(each, order) for order in expects["orders"]]
        for engine, each in figures.items()
    }
    right = {
        engine: all(_near(each, order) for order in expects["orders"])
        for engine, each in figures.items()
    }
    sound = {engine: _rises(counts[engine]) and right[engine] for engine in MINDSPORE}
    wrong = {engine: _wrong(evidence[operators(GROUP, engine).name]) for engine in DOUBLED}
    seen = f"{_counted(counts)}; {sum(right.values())} of {len(right)} engines match the closed form of eˣ·sin x{_lost(wrong)}"
    if not all(sound.values()):
        return Ruling(
            by_style(sound),
            seen,
            "Hold nested gradients against a closed form or differences before you use them.",
        )
    verdict = by_style({engine: not wrong[engine] for engine in MINDSPORE})
    if verdict == "depends_on_style":
        good = NAMES[next(engine for engine in MINDSPORE if not wrong[engine])]
        return Ruling(
            verdict, seen, f"Nest grad in {good} style: the other loses terms without a message."
        )
    if verdict == "does_not_hold":
        return Ruling(
            verdict,
            seen,
            "Do not nest grad through these operators: the numbers are wrong without a message.",
        )
    return Ruling(
        verdict, seen, "Nest grad as often as you need; every order costs more operators."
    )


def _counted(counts: dict[str, list[Any]]) -> str:
    told = "; ".join(f"{engine} {', '.join(map(str, each))}" for engine, each in counts.items())
    return f"operators by order: {told}"


def _lost(wrong: dict[str, list[str]]) -> str:
    return "".join(
        f"; {engine} gives wrong second derivatives, without a message, of {', '.join(names)}"
        for engine, names in wrong.items()
        if names
    )


def _count(figures: Figures, order: int) -> Any:
    """The operators of the last stage at an order, or the message of what was raised."""
    figure = figures["by order"][str(order)]
    return said(figure) if raised(figure) else list(figure.values())[-1]


def _near(figures: Figures, order: int) -> bool:
    figure = figures["values"][str(order)]
    return not raised(figure) and apart(figure["elements"], [given.wave(order)]) <= NEAR


def _rises(counts: list[Any]) -> bool:
    return all(isinstance(each, int) for each in counts) and all(
        fewer < more for fewer, more in pairwise(counts)
    )


def _wrong(figures: Figures) -> list[str]:
    return [name.replace("_", " ") for name, each in figures.items() if outcome(each) == "wrong"]


NESTING = Claim(
    id=26,
    topic="gradients",
    statement="Higher orders come from nesting `grad`, and the graph grows by each backward.",
    guides=("000",),
    would="Nested gradients are right at orders 1 to 4, and each order has more operators than the one before.",
    measurements=(
        *(nodes(engine) for engine in ENGINES),
        *(operators(GROUP, engine) for engine in DOUBLED),
    ),
    judge=_nesting,
    expects={"orders": [1, 2, 3, 4]},
)
