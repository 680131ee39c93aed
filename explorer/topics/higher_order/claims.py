"""The claim about higher orders: nested gradients, their values and what they cost (row 26)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from explorer.model.claim import Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import relative_error
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import wave
from explorer.topics.higher_order.operators import by_outcome, words
from explorer.topics.higher_order.questions import NODES_OF_WAVE, SECOND_DERIVATIVES, TOPIC
from explorer.topics.higher_order.transformations import NEAR
from explorer.topics.observations import observed
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import SHORT_LABELS, by_style, ruling_by_style

BY_SHAPE = SECOND_DERIVATIVES["by shape"].by(*MINDSPORE_STYLES, "torch-tape")
"""The operators behind which terms get lost, and whose second derivatives of them are looked at."""


@TOPIC.claim(
    26,
    "Higher orders come from nesting `grad`, and the graph grows by each backward.",
    heading="gradients",
    guides=("000",),
    sections={"000": "High-order Derivatives"},
    would=(
        "Nested gradients are right at orders 1 to 4, and each order has more operators than "
        "the one before."
    ),
    asks=(NODES_OF_WAVE, BY_SHAPE),
    expects={"orders": [1, 2, 3, 4]},
)
def nesting(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's nested gradients are right and grow with the order.

    None of its second derivatives may be wrong without a message.
    """
    counts: dict[str, list[int | str]] = {}
    right: dict[str, bool] = {}
    for engine, figures in evidence[NODES_OF_WAVE].items():
        counts[engine] = [_operators(figures, order) for order in expects["orders"]]
        right[engine] = all(_is_right(figures, order) for order in expects["orders"])
    wrong: dict[str, list[str]] = {}
    for engine, figures in evidence[BY_SHAPE].items():
        wrong[engine] = by_outcome(figures)["wrong"]
    rises = {engine: _rises(by_order) for engine, by_order in counts.items()}
    orders = f"orders {expects['orders'][0]} to {expects['orders'][-1]}"
    seen = (
        *observed(f"operators of the last stage, {orders} of eˣ·sin x", counts, _listed, rises),
        *observed(f"value against the closed form, {orders}", right, _correctness, right),
        *observed(
            "operators whose second derivative is wrong, without a message",
            wrong,
            _operators_listed,
            {engine: not names for engine, names in wrong.items()},
        ),
    )

    # Wrong values or a graph that does not grow decide before operators that lose a term do.
    sound = {style: right[style] and rises[style] for style in MINDSPORE_STYLES}
    if by_style(sound) != "holds":
        return Ruling(
            by_style(sound),
            seen,
            "Hold nested gradients against a closed form or differences before you use them.",
        )
    loses_nothing = {style: not wrong[style] for style in MINDSPORE_STYLES}
    good = [SHORT_LABELS[style] for style in MINDSPORE_STYLES if loses_nothing[style]]
    return ruling_by_style(
        loses_nothing,
        seen,
        {
            "holds": "Nest grad as often as you need; every order costs more operators.",
            "depends_on_style": (
                f"Nest grad in {' and '.join(good)} style: the other loses terms without a message."
            ),
            "does_not_hold": (
                "Do not nest grad through these operators: the numbers are wrong without a message."
            ),
        },
    )


def _operators(figures: Figures, order: int) -> int | str:
    """The operators of the last stage at an order, or the message of what was raised."""
    figure = figures["by order"][str(order)]
    if raised(figure):
        return said(figure)
    *_, count = figure.values()  # what the compiler has made of the stages before
    return int(count)


def _is_right(figures: Figures, order: int) -> bool:
    """Whether the wave's derivative of an order is that of the closed form."""
    figure = figures["values"][str(order)]
    if raised(figure):
        return False
    error: float = relative_error(figure["elements"], [wave.derivative(order)])
    return error <= NEAR


def _rises(counts: Sequence[int | str]) -> bool:
    """Whether each order has more operators than the one before; where one raises it does not."""
    numbers = [count for count in counts if isinstance(count, int)]
    return len(numbers) == len(counts) and all(fewer < more for fewer, more in pairwise(numbers))


def _listed(counts: Sequence[int | str]) -> str:
    return ", ".join(map(str, counts))


def _correctness(is_right: bool) -> str:
    return "right" if is_right else "wrong"


def _operators_listed(names: Sequence[str]) -> str:
    return ", ".join(map(words, names)) or "none"
