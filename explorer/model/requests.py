"""Requests to an engine for a net or for one of its cases, and what a first look finds."""

from typing import Literal

import msgspec

from explorer.model.arrays import Array
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.trees import Tree

Role = Literal["trained", "frozen", "buffer", "constant"]
"""What a net does with a tensor that it holds.

A parameter is trained or frozen (``requires_grad=False``), a buffer is registered as such, and a
constant is a plain tensor that is an attribute.
"""


class Repacked(msgspec.Struct, frozen=True):
    """Tensors that both nets hold in other pieces, one after the other along the first axis.

    ``own`` are the shapes of MindSpore's by name, ``torch`` those of PyTorch's; one of both is the
    whole.
    """

    own: dict[str, tuple[int, ...]]
    torch: dict[str, tuple[int, ...]]


class NetRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The net that an engine is to build: scenario file, device, and starting values.

    ``parameters``, buffers and plain tensors are keyed by PyTorch's names and overwrite the net's
    own, in PyTorch's layout; ``trainable`` is the order in which all weights are requested, so that
    every engine returns them alike. ``names`` are PyTorch's of what the net holds, by the path in
    its tree of modules, and ``shapes`` those of PyTorch's where they have other lengths of 1.
    ``pieces`` are parameters that MindSpore's net holds in other pieces.
    ``returned`` has the names of the net's outputs, nested as it returns
    them. All are empty in the first look at a net. ``jitter`` n > 0 moves inputs and parameters by
    one unit in the last place, each n otherwise: that is how noise is measured. ``draw`` n > 0 lets
    the net draw other random numbers than usual from the same start, each n others. With
    ``has_masks`` the masks of dropout layers are given, alike in every engine; with
    ``has_own_draws`` they are not, since the other framework's net has no such layer.
    """

    scenario: str
    engine: str
    device: str = "cpu"
    parameters: dict[str, Array] = {}
    trainable: tuple[str, ...] = ()
    names: dict[str, str] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    pieces: tuple[Repacked, ...] = ()
    returned: Tree = None
    jitter: int = 0
    draw: int = 0
    has_masks: bool = False
    has_own_draws: bool = False


ProofScope = Literal["none", "small", "all"]
"""Which captured graphs have the values of their nodes proven: none, those of moderate size, all."""


class CaseRequest(msgspec.Struct, frozen=True):
    """One case on one net: to be answered, captured as a graph, or estimated.

    The oracle estimates from the forward alone. ``values`` tells a capture to observe every node's
    value too, ``prove`` to compute each op again from the observed values of its inputs.
    ``whole_forward`` lets a compiled graph keep what only the outputs need; without it, the graph is
    that of the call itself, which may compute less than the forward. ``ids`` asks for the names that
    ``return_ids=True`` adds, which compiled nets are compiled once more for.
    """

    net: NetRequest
    case: GradCase
    values: bool = True
    prove: ProofScope = "none"
    whole_forward: bool = True
    ids: bool = False

    @property
    def proves(self) -> bool:
        """Whether values are proven, of small graphs at least."""
        return self.values and self.prove != "none"


class TrainingRequest(msgspec.Struct, frozen=True):
    """A net that is to be trained for some steps.

    With ``has_one_loss`` its first output is the loss, and else the sum of all of them. Errors in the
    scenario's file are in the language with the code ``language``. Of the step ``graph_of`` the graph is
    recorded too; of none where it is 0.
    """

    net: NetRequest
    steps: int
    has_one_loss: bool = False
    language: str = "en"
    graph_of: int = 0


class ParameterSpec(msgspec.Struct, frozen=True):
    """A tensor that a net holds, as its framework declares it.

    ``name`` is PyTorch's. ``path`` is the framework's own, by the tree of modules, and ``own_name``
    what the parameter itself is called, which in MindSpore may be something else. ``value`` is laid
    out as in PyTorch.
    """

    name: str
    path: str
    role: Role
    value: Array
    own_name: str = ""

    @property
    def trainable(self) -> bool:
        """Whether it is a parameter that requires a gradient."""
        return self.role == "trained"


class OutputSpec(msgspec.Struct, frozen=True):
    """Shape and dtype of one output of the forward."""

    shape: tuple[int, ...]
    dtype: str


class Description(msgspec.Struct, frozen=True):
    """The description of a net at first look: parameters and outputs, or its forward's failure.

    Parameters, and PyTorch's buffers among them, are in the order of their declaration.
    ``constants`` are plain tensors, and MindSpore's buffers, which its compiler takes for such.
    ``returned`` has the names of the outputs, nested as the net returns them. ``masked`` are the
    dropout layers whose masks are given: the share that each drops, by its path. ``omitted`` are
    the objects without tensors that the net returns beside them: the class of each, by its key.
    ``own`` is what a net holds that is to be given its parameters, where it calls them otherwise.
    """

    parameters: tuple[ParameterSpec, ...] = ()
    constants: tuple[ParameterSpec, ...] = ()
    outputs: tuple[OutputSpec, ...] = ()
    returned: Tree = None
    masked: dict[str, float] = {}
    error: Failure | None = None
    omitted: dict[str, str] = {}
    own: tuple[ParameterSpec, ...] = ()


class ResponsesRequest(msgspec.Struct, frozen=True):
    """A net, and starts of which each overwrites values of the one before."""

    net: NetRequest
    starts: tuple[dict[str, Array], ...]


class Responses(msgspec.Struct, frozen=True):
    """The outputs of a net's forward from each start, or the failure of one."""

    outputs: tuple[tuple[Array, ...], ...] = ()
    error: Failure | None = None


class Nothing(msgspec.Struct, frozen=True):
    """The request to a function that needs no argument."""
