"""Names of those who scale a loss, and their figures in few digits, for findings and claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from explorer.model.message import Text
from explorer.text.numbers import number
from explorer.topics import cells
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import grouped
from explorer.topics.loss_scale.inputs import FINITE_CASES
from explorer.topics.loss_scale.questions import SCALING
from explorer.topics.messages import Messages
from explorer.topics.question import MINDSPORE_STYLES

Answer = TypeVar("Answer")

say = Messages(
    "loss_scale",
    in_words=frozenset(
        {
            *FINITE_CASES,
            "a scale below 1",
            "a factor that is no integer",
            "unscale_ twice before update",
            "step before any scale",
            "amp.build_train_network with DynamicLossScaleManager",
        }
    ),
)


@dataclass(frozen=True)
class Names:
    """What those who scale are called: by party, both styles of MindSpore, and all together."""

    labels: Mapping[str, Text]
    mindspore: Text
    everybody: Text

    def of(self, parties: Sequence[str]) -> Text:
        """One name for some of SCALING."""
        if len(parties) == len(SCALING):
            return self.everybody
        if tuple(parties) == MINDSPORE_STYLES:
            return self.mindspore
        scalers = tuple(self.labels[party] for party in parties)
        return scalers[0] if len(scalers) == 1 else say("scalers", scalers=scalers)


FRAMEWORK_NAMES = Names(
    labels={party: cells.party(party) for party in SCALING},
    mindspore="MindSpore",
    everybody=say("everybody"),
)

SCALER_NAMES = Names(
    labels={
        "mindspore-graph": say("scaler_graph"),
        "mindspore-tape": say("scaler_tape"),
        "torch": "GradScaler",
    },
    mindspore="DynamicLossScaler",
    everybody=say("scalers", scalers=("DynamicLossScaler", "GradScaler")),
)


def by_name(
    answers: Mapping[str, Answer], names: Names = FRAMEWORK_NAMES
) -> list[tuple[Text, Answer]]:
    """Each different answer beside the name of those who gave it."""
    return [(names.of(parties), answer) for parties, answer in grouped(answers)]


def shown(value: Any) -> str:
    """Nested numbers without needless decimals: [[2048, 4096, 6144]].

    Of an attempt that raised, its message.
    """
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return said(value) if raised(value) else f"{number(value):.4g}"


def case_name(case: str) -> Text:
    """A case of the check for finite gradients: "zeros, float16"."""
    gradients, comma, dtype = case.rpartition(", ")
    return say("case", gradients=say.named(gradients), dtype=dtype) if comma else case


def percent(share: float) -> str:
    """A share of all as a percentage."""
    return f"{100 * share:.3g} %"
