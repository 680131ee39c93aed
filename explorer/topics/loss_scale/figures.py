"""What the figures of loss scaling say, for its findings and claims; and names in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import msgspec

from explorer.model.message import Text
from explorer.text.numbers import number
from explorer.topics import cells
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Attempt, Evidence, grouped, spaced
from explorer.topics.loss_scale.inputs import FACTOR, FINITE_CASES, WINDOW
from explorer.topics.loss_scale.questions import LIFE, SCALING
from explorer.topics.messages import Messages
from explorer.topics.question import MINDSPORE_STYLES

Answer = TypeVar("Answer")


class Losses(msgspec.Struct, frozen=True):
    """What became of gradients at each scale of the sweep.

    The shares that underflow and that overflow, and the mean relative error.
    """

    underflow: list[float]
    overflow: list[float]
    error: list[float]

    @property
    def is_lossless(self) -> bool:
        """Whether no gradient is lost at any scale."""
        return not any(self.underflow) and not any(self.overflow)


class TinyGradient(msgspec.Struct, frozen=True, rename=spaced):
    """A gradient of 1e-8 in one float: without scaling, scaled, and unscaled in two ways."""

    without: Any
    scaled: Any
    unscaled_there: Any
    unscaled_in_float32: Any


class LossAndGradient(msgspec.Struct, frozen=True):
    """The loss of the guide's net and its gradient."""

    loss: Any
    gradient: Any


class GuideExample(msgspec.Struct, frozen=True):
    """The guide's net, scaled and unscaled, and whether all was finite."""

    scaled: LossAndGradient
    unscaled: LossAndGradient
    all_finite: bool


class Turn(msgspec.Struct, frozen=True):
    """One step of a scaler's life.

    Its scale before and after, whether the gradients were finite, and whether weights moved.
    """

    scale: float
    after: float
    finite: bool
    stepped: bool


class Life(msgspec.Struct, frozen=True):
    """The steps of one scaler."""

    turns: tuple[Turn, ...]


class OverflowedStep(Attempt, frozen=True, kw_only=True):
    """Whether a step after an overflow moved the weight, and to what; or what it raised."""

    stepped: bool = False
    weight: Any = None

    @property
    def is_skipped(self) -> bool:
        """Whether it left the weight alone."""
        return not self.raised and not self.stepped


class ScaleLimits(msgspec.Struct, frozen=True):
    """The scales with an overflow at every step, and those with a growth at every step."""

    down: list[Any]
    up: list[Any]


def turns_of(evidence: Evidence) -> dict[str, tuple[Turn, ...]]:
    """The steps of the scaler of each party."""
    lives = evidence.records(LIFE, Life)
    return {party: life.turns for party, life in lives.items()}


class Counts(NamedTuple):
    """What happened in a scaler's life, counted over all its steps.

    ``overflows``, of these the ``skipped`` and those that ``shrunk`` the scale; how often it has
    ``grown``, of these ``on_time``, that is after a whole window of finite steps; and how many
    finite steps ``stepped``.
    """

    overflows: int
    skipped: int
    shrunk: int
    grown: int
    on_time: int
    stepped: int


def counts(turns: Sequence[Turn]) -> Counts:
    """What happened over the steps of a scaler."""
    happened = dict.fromkeys(Counts._fields, 0)
    finite_in_a_row = 0
    for turn in turns:
        if turn.finite:
            finite_in_a_row += 1
            happened["stepped"] += turn.stepped
        else:
            finite_in_a_row = 0
            happened["overflows"] += 1
            happened["skipped"] += not turn.stepped
            # Scales are powers of two, so this holds to the last bit.
            happened["shrunk"] += turn.after == turn.scale / FACTOR
        if turn.after > turn.scale:
            happened["grown"] += 1
            happened["on_time"] += finite_in_a_row >= WINDOW
            finite_in_a_row = 0  # the next window begins
    return Counts(**happened)


def same_scales(lives: Iterable[Sequence[Turn]]) -> int:
    """At how many steps all scalers have the same scale."""
    same = 0
    for turns in zip(*lives, strict=True):
        scales = {turn.scale for turn in turns}
        same += len(scales) == 1
    return same


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
