"""What the figures of training steps say: typed records, messages, and names in words."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from explorer.model.message import Message, Text
from explorer.topics import cells
from explorer.topics.evidence import Attempt, spaced
from explorer.topics.messages import Messages
from explorer.topics.training.update_rules import States

say = Messages(
    "training",
    in_words=frozenset(
        {
            "SGD with momentum",
            "momentum, fused",
            "momentum with dampening",
            "Nesterov momentum",
            "SGD with weight decay",
            "Adam with weight decay",
            "proximal Adagrad",
            "small operators, as printed",
            "small operators, as meant",
            "ApplyMomentum, as printed",
            "ApplyMomentum, as meant",
            "grad_centralization, rows of 16",
            "grad_centralization, rows of 2",
            "forward",
            "backward",
            "update",
            "plumbing",
            "by itself",
        }
    ),
)


def listed(names: Iterable[Text]) -> Message:
    """Names in a row, or "none"."""
    return say("names", names=some(names))


def some(names: Iterable[Text], otherwise: Text = cells.NONE) -> tuple[Text, ...]:
    """Names, or ``otherwise`` where there are none."""
    return tuple(names) or (otherwise,)


def sum_of(names: Sequence[str]) -> Text:
    """Parts of a step with a plus between them: "forward + backward"."""
    text: Text = say.named(names[0]) if names else ""
    for name in names[1:]:
        text = say("plus", first=text, second=say.named(name))
    return text


# Figures that findings and claims read


class Trained(Attempt, frozen=True, kw_only=True, rename=spaced):
    """What some steps by one route leave, or why it was refused.

    ``states`` are weights and running statistics after every step; a compiled route has the number
    of graphs, and the reasons of breaks with their counts. ``statistics_captured`` is what PyTorch
    raised where torch.func captures running statistics.
    """

    states: States = msgspec.field(default_factory=list)
    graphs: int = 0
    breaks: dict[str, int] = msgspec.field(default_factory=dict)
    statistics_captured: Any = None


class Stateful(Attempt, frozen=True, kw_only=True, rename=spaced):
    """What steps leave whose optimizer keeps a state.

    ``dispatched`` counts the operators that were dispatched, None where that cannot be observed.
    """

    losses: Any = None
    weight: Any = None
    moments: Any = None
    steps_counted: Any = None
    dispatched: int | None = None


class StatefulSteps(
    msgspec.Struct, frozen=True, rename={"by_itself": "by itself", "jitted": "ms.jit"}
):
    """The same steps by themselves and under ms.jit."""

    by_itself: Stateful
    jitted: Stateful

    @property
    def error(self) -> str:
        """What the first of the two that raised said; "" where neither did."""
        for steps in (self.by_itself, self.jitted):
            if steps.raised:
                return steps.error
        return ""


class Filtered(msgspec.Struct, frozen=True):
    """What parameters are handed out as, and the names of those chosen, and moved by a step.

    ``again`` is whether they can be gone through twice.
    """

    type: str
    chosen: tuple[str, ...]
    moved: tuple[str, ...]
    again: bool = False


class ClippingInMindSpore(msgspec.Struct, frozen=True, rename=spaced):
    """The default norm, and gradients clipped by it, by each norm, and by value."""

    default: float
    by_default: list[Any]
    by_norm: dict[str, list[Any]]
    by_value: list[Any]


class ClippedByNorm(msgspec.Struct, frozen=True):
    """Gradients clipped by a norm."""

    gradients: list[Any]


class ClippingInTorch(msgspec.Struct, frozen=True, rename=spaced):
    """The default norm, and gradients clipped by each norm, and by value."""

    default: float | None
    by_norm: dict[str, ClippedByNorm]
    by_value: list[Any]


class Decayed(msgspec.Struct, frozen=True, rename={"decayed": "0.1"}):
    """The weights that a step with gradient 0 leaves by default, and with a decay of 0.1.

    Either is what the attempt raised.
    """

    default: Any
    decayed: Any


class Group(Attempt, frozen=True, kw_only=True):
    """The weights of two groups after a step, the first with a setting of its own."""

    first: list[float] = msgspec.field(default_factory=list)
    second: list[float] = msgspec.field(default_factory=list)

    @property
    def is_without_effect(self) -> bool:
        """Whether the setting was accepted and left both groups' weights alike."""
        return not self.raised and self.first == self.second


class OptimizerState(msgspec.Struct, frozen=True):
    """The methods that an optimizer has, the names in its state_dict, and its rate.

    ``load_state_dict`` is True where it takes what state_dict gives. Each but the first is what the
    attempt raised, or None where the method is missing.
    """

    has: dict[str, bool]
    state_dict: Any = None
    load_state_dict: Any = None
    get_lr: Any = None
