"""The record of some steps of a training: what each was given, what it computed, and what it left."""

from typing import Literal

import msgspec

from explorer.model.engines import Framework
from explorer.model.graph import Arguments, GradGraph
from explorer.model.results import Leaf
from explorer.model.trace import Missing, Start

SCHEMA = 1
"""The version of the form that is written, and the only one that is read."""


Kept = Literal["all", "few", "losses"]
"""What a long record has kept of a step: all, of each tensor a few elements and figures, or the losses."""


class Group(msgspec.Struct, frozen=True):
    """Parameters that an optimizer treats alike, by their names, and its ``settings`` for them.

    Settings go by PyTorch's names where both frameworks have them: lr, betas, eps, weight_decay, momentum,
    dampening, nesterov, amsgrad, alpha, centered. A framework's own go by its own names.
    """

    names: tuple[str, ...]
    settings: Arguments = {}


class Batch(msgspec.Struct, frozen=True):
    """One forward and backward pass of a step: what the net was called with, and the loss.

    ``carried`` are arguments too, with values that a module returned in the step before. ``gradients`` are
    those that this pass has added, still scaled, where a step has several. ``read`` is what the operators of
    the loss have read beside, such as labels or masks; ``has_read_more`` if that is not all.
    """

    data: tuple[Leaf, ...] = ()
    loss: float | None = None
    gradients: tuple[Leaf, ...] = ()
    carried: tuple[Leaf, ...] = ()
    read: tuple[Leaf, ...] = ()
    has_read_more: bool = False


class TrainingStep(msgspec.Struct, frozen=True, kw_only=True):
    """One update of the weights; names are PyTorch's, layouts too.

    ``batches`` are the passes whose gradients were added up for it. ``gradients`` are as backward left
    them, still multiplied by ``scale`` where there is one; ``given`` are those that the optimizer
    got: unscaled, clipped. ``norm`` is the total norm that clipping has computed, and ``skipped`` says that
    a scaler left the update out. ``groups`` are the settings with which the update was made.
    ``weights``, ``buffers`` and ``state`` (the optimizer's: "fc.weight.exp_avg", "fc.weight.step") are
    those after the update, ``averages`` those of the weights where a program keeps some. A tensor that is
    large is an excerpt, of the same elements at every step and in both frameworks. ``kept`` says what is
    left of a step of a long record.
    """

    number: int
    batches: tuple[Batch, ...] = ()
    scale: float | None = None
    skipped: bool = False
    gradients: tuple[Leaf, ...] = ()
    norm: float | None = None
    given: tuple[Leaf, ...] = ()
    groups: tuple[Group, ...] = ()
    weights: tuple[Leaf, ...] = ()
    buffers: tuple[Leaf, ...] = ()
    state: tuple[Leaf, ...] = ()
    averages: tuple[Leaf, ...] = ()
    random: dict[str, str] = {}
    graph: GradGraph | None = None
    kept: Kept = "all"

    @property
    def loss(self) -> float | None:
        """The sum of the losses of its passes, whose gradients are added up; None where none is known."""
        losses = [batch.loss for batch in self.batches if batch.loss is not None]
        return sum(losses) if losses else None


class Drift(msgspec.Struct, frozen=True):
    """How far a run from a start that was moved by rounding went from the plain one.

    ``losses`` has one number a step: the absolute difference of the losses. ``weights`` has for each
    parameter's name one number a step: the Euclidean norm of the difference of its values; ``gradients``
    likewise, of gradients as backward left them, and ``buffers``.
    """

    losses: tuple[float, ...]
    weights: dict[str, tuple[float, ...]]
    gradients: dict[str, tuple[float, ...]] = {}
    buffers: dict[str, tuple[float, ...]] = {}


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """Some steps of a training, in order, from the first one.

    ``engine`` is the one that ran it, which for a program's own loop is the framework's tape.
    ``optimizer`` is the class, with its module ("torch.optim.adam.Adam"). ``start`` has the parameters and
    buffers as the first step found them. ``jittered`` says how far runs of the same steps went from this one
    that began with weights that were moved by rounding alone.
    """

    schema: int = SCHEMA
    name: str
    framework: Framework
    engine: str
    optimizer: str = ""
    versions: dict[str, str] = {}
    device: str = ""
    start: tuple[Start, ...] = ()
    steps: tuple[TrainingStep, ...] = ()
    jittered: tuple[Drift, ...] = ()
    missing: tuple[Missing, ...] = ()
