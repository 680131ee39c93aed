"""Why two ops give different values for equal inputs: what was tried, and what explains it."""

import msgspec

from explorer.model.graph import Arguments, Layer, Output, SideName
from explorer.model.requests import CaseRequest


class Trial(msgspec.Struct, frozen=True):
    """An op to be computed again, alone, from its recorded inputs, with other ``arguments``.

    ``node`` is its id in the graph. With ``op``, that operator is computed in its place, with those of
    its inputs and arguments that it takes as well. Nothing of both: it is computed as it was.
    """

    node: str
    arguments: Arguments = {}
    op: str = ""


class TrialsRequest(msgspec.Struct, frozen=True):
    """Trials on the graph that a capture of the case gives."""

    request: CaseRequest
    trials: tuple[Trial, ...]


class Tried(msgspec.Struct, frozen=True):
    """The outputs of each trial, in their order; () of one that raised or could not be made.

    What an op writes to counts among its outputs, as the last.
    """

    outputs: tuple[tuple[Output, ...], ...]


class Mend(msgspec.Struct, frozen=True, kw_only=True):
    """What to write in the net of one side so that it does there what the other one does.

    ``call`` is a layer or a function, "nn.GELU".
    """

    side: SideName
    call: str
    arguments: Arguments


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments, or another operator, that explain a divergence.

    With ``arguments`` in the place of its ``own``, or with ``other_op`` in its own place where that is
    not "", the op of ``side`` gives what the other side has: the two then differ by ``greatest`` at
    most, where rounding moves the value by ``noise`` (None where it was not measured). ``layers`` are
    those that the two ops run in, the left one first. ``tried`` counts all that was tried. ``mends``
    say what to write in either net, as far as the table of correspondences knows it.
    """

    side: SideName
    node: str
    op: str
    own: Arguments
    arguments: Arguments
    greatest: float
    noise: float | None
    layers: tuple[Layer | None, Layer | None]
    tried: int
    other_op: str = ""
    mends: tuple[Mend, ...] = ()
