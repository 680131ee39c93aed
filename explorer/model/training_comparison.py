"""Two trainings beside each other: what was compared at each step, and where they first differ."""

from typing import Any, Literal

import msgspec

from explorer.model.engines import Framework

Question = Literal[
    "data",
    "start",
    "trained",
    "loss",
    "gradients",
    "skipped",
    "given",
    "update",
    "state",
    "weights",
    "buffers",
    "averages",
]
"""What is compared of each step, in this order.

- "data": what the net was called with
- "start": parameters and buffers before the first step
- "trained": which parameters an optimizer updates
- "loss": the loss
- "gradients": as backward left them, unscaled
- "skipped": whether a scaler left the update out
- "given": gradients that the optimizer got, from those that backward left: unscaled, clipped
- "update": the weights that an update makes of its gradients, settings and state
- "state": what the optimizer keeps
- "weights": the weights themselves, which rounding moves apart by the noise
- "buffers": running statistics
- "averages": averages of the weights
"""

QUESTIONS: tuple[Question, ...] = (
    "data",
    "start",
    "trained",
    "loss",
    "gradients",
    "skipped",
    "given",
    "update",
    "state",
    "weights",
    "buffers",
    "averages",
)

Status = Literal[
    "same", "in_part", "different", "not_recorded", "no_noise", "not_reached", "no_rule"
]
"""How a question is answered.

- "in_part": what both sides have recorded is the same; a side was given more
- "not_recorded": neither side, or one alone, has records of it
- "no_noise": no run with a jittered start says how far rounding moves it
- "not_reached": an earlier difference was found
- "no_rule": no known rule gives the updates
"""

Reason = Literal[
    "values",
    "rows_in_another_order",
    "of_another_step",
    "stretched",
    "other_size",
    "reset",
    "missing",
    "frozen",
    "random",
    "factor",
    "passes_weighted",
    "kept",
    "decayed",
    "not_unscaled",
    "clipping",
    "limit",
    "rule",
    "unknown_rule",
    "overflow_not_skipped",
    "momentum",
    "variance",
    "decay",
]
"""Why a quantity differs, as far as the records prove it.

- "values": the numbers differ, and nothing else is known
- "rows_in_another_order", "of_another_step", "stretched", "other_size": of the data; ``numbers`` has the
  step of the other side, or the factor and what is added
- "reset": of the data: a side was given a state that the other one carries on from the step before
- "missing": only one side has the tensors ``names``
- "frozen": only one side trains the parameters ``names``
- "random": the random generators of one framework were in other states
- "factor": one side is the other one's, times the number in ``numbers``
- "passes_weighted": gradients of passes were added up with other weights: ``left`` and ``right`` have them
- "kept": the gradients of a side are its last step's, plus those of this step: zero_grad() is missing
- "decayed": a side's gradients have a share of the weights in them, which ``numbers`` says
- "not_unscaled": a side's gradients were given to the optimizer still multiplied by the scale
- "clipping", "limit": gradients are clipped by another rule, or by the same one with another limit
- "rule": updates follow rules that ``left`` and ``right`` describe, and which differ in ``unlike``
- "unknown_rule": the rule that gives the updates of one side does not give those of the other, which no
  rule in the table gives
- "overflow_not_skipped": gradients are not finite, and the update was made
- "momentum": of running statistics: ``left`` and ``right`` have what a new value counts for
- "variance": one side's running variance is the unbiased one
- "decay": of averages: ``left`` and ``right`` have what the old average counts for
"""

SideName = Literal["left", "right"]


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one side does: the ``kind`` names a formula or a way to clip; ``settings`` are its own.

    Of an update they are settings by PyTorch's names and conventions, as compare.training.formulas
    has them. ``lag`` says that the rate is that of another of the side's own steps.
    """

    kind: str = ""
    settings: dict[str, Any] = {}
    lag: int = 0


class Unlike(msgspec.Struct, frozen=True):
    """A setting or convention in which two rules differ.

    ``steps`` is by how many steps a rate comes late. Where rates are the same again behind some steps,
    ``only`` has the first and the last of these, and ``warm`` the side whose rate rises from the first step
    on to that of the other side.
    """

    name: str
    left: Any
    right: Any
    steps: int = 0
    only: tuple[int, int] | None = None
    warm: SideName | None = None


class TrainingDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first thing that is not the same in two trainings.

    ``names`` are the tensors in question, of ``of`` in all. ``apart`` is the greatest absolute difference,
    ``times`` how many times the noise that is, where it was measured. ``side`` has what ``reason`` says.
    """

    question: Question
    reason: Reason
    step: int
    names: tuple[str, ...] = ()
    of: int = 0
    apart: float | None = None
    times: float | None = None
    side: SideName | None = None
    numbers: tuple[float, ...] = ()
    left: Rule | None = None
    right: Rule | None = None
    unlike: tuple[Unlike, ...] = ()
    has_graph: bool = False


class Answer(msgspec.Struct, frozen=True):
    """How a question was answered over all steps that were compared."""

    question: Question
    status: Status


class Losses(msgspec.Struct, frozen=True):
    """The losses of both sides at each step, and how far rounding may move their difference."""

    steps: tuple[int, ...]
    left: tuple[float | None, ...]
    right: tuple[float | None, ...]
    band: tuple[float, ...] = ()


class WeightMap(msgspec.Struct, frozen=True):
    """How many times the noise the weights lie apart: a row for each parameter, a number for each step.

    Those of more than ``clear`` differ beyond rounding.
    """

    steps: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    times: tuple[tuple[float, ...], ...] = ()
    clear: float = 0.0


class TrainingComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two trainings beside each other.

    ``steps`` counts the steps that both have. ``rule`` is what gives the updates of both sides where they
    are the same. Where a side lacks parameters, that is the ``difference``, and ``beside`` the first one of
    what is compared without them. ``names`` are the left side's of parameters that the right side calls
    otherwise, by its own names. Of the steps ``few`` a side has few elements of each tensor, or of what is
    before it, and of ``losses_alone`` no more than losses.
    """

    schema: int = 1
    left: str
    right: str
    frameworks: tuple[Framework, Framework]
    versions: tuple[dict[str, str], dict[str, str]]
    optimizers: tuple[str, str]
    steps: int
    answers: tuple[Answer, ...]
    difference: TrainingDifference | None = None
    beside: TrainingDifference | None = None
    names: dict[str, str] = {}
    rule: Rule | None = None
    has_noise: bool = False
    few: tuple[int, ...] = ()
    losses_alone: tuple[int, ...] = ()
    losses: Losses
    weights: WeightMap
