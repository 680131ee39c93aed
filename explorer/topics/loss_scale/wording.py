"""How the figures of loss scaling are put into words: who gave them, and numbers in few digits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from explorer.text.numbers import number
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import grouped
from explorer.topics.loss_scale.questions import SCALING
from explorer.topics.question import MINDSPORE_STYLES, PARTIES

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Names:
    """What those who scale are called: by party, both styles of MindSpore, and all together."""

    labels: Mapping[str, str]
    mindspore: str
    everybody: str

    def of(self, parties: Sequence[str]) -> str:
        """One name for some of SCALING."""
        if len(parties) == len(SCALING):
            return self.everybody
        if tuple(parties) == MINDSPORE_STYLES:
            return self.mindspore
        return " and ".join(self.labels[party] for party in parties)


FRAMEWORK_NAMES = Names(
    labels={party: PARTIES[party].label for party in SCALING},
    mindspore="MindSpore",
    everybody="both frameworks",
)

SCALER_NAMES = Names(
    labels={
        "mindspore-graph": "DynamicLossScaler, graph",
        "mindspore-tape": "DynamicLossScaler, tape",
        "torch": "GradScaler",
    },
    mindspore="DynamicLossScaler",
    everybody="DynamicLossScaler and GradScaler",
)


def by_name(
    answers: Mapping[str, Answer], names: Names = FRAMEWORK_NAMES
) -> list[tuple[str, Answer]]:
    """Each different answer beside the name of those who gave it."""
    return [(names.of(parties), answer) for parties, answer in grouped(answers)]


def shown(value: Any) -> str:
    """Nested numbers without needless decimals: [[2048, 4096, 6144]].

    Of an attempt that raised, its message.
    """
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return said(value) if raised(value) else f"{number(value):.4g}"


def said_of_route(step: Any) -> str:
    """What one of MindSpore's routes makes of a step after an overflow."""
    if raised(step):
        return f"raises {said(step)}"
    return f"steps to {shown(step['weight'])}" if step["stepped"] else "skips it"


def said_of_routes(routes: Mapping[str, Any]) -> str:
    """What each of MindSpore's routes makes of a step after an overflow, in a sentence."""
    return ", ".join(f"{name} {said_of_route(step)}" for name, step in routes.items())


def percent(share: float) -> str:
    """A share of all as a percentage."""
    return f"{100 * share:.3g} %"
