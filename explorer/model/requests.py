"""Requests to an engine for a net or for one of its cases, and what a first look finds."""

import msgspec

from explorer.model.arrays import Array
from explorer.model.cases import GradCase
from explorer.model.results import Failure


class NetRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The net that an engine is to build: scenario file, device, and starting values.

    ``parameters`` and buffers are keyed by PyTorch's names and overwrite the net's own;
    ``trainable`` is the order in which all weights are asked for, so that every engine returns them
    alike. Both are empty in the first look at a net.
    """

    scenario: str
    engine: str
    device: str = "cpu"
    parameters: dict[str, Array] = {}
    trainable: tuple[str, ...] = ()


class CaseRequest(msgspec.Struct, frozen=True):
    """One case on one net: to be answered, captured as a graph, or estimated.

    The oracle estimates from the forward alone. ``values`` tells a capture to observe every node's
    value too.
    """

    net: NetRequest
    case: GradCase
    values: bool = True


class ParameterSpec(msgspec.Struct, frozen=True):
    """A parameter or buffer as a framework declares it.

    ``name`` is PyTorch's, ``own_name`` the framework's.
    """

    name: str
    own_name: str
    trainable: bool
    value: Array


class OutputSpec(msgspec.Struct, frozen=True):
    """Shape and dtype of one output of the forward."""

    shape: tuple[int, ...]
    dtype: str


class Description(msgspec.Struct, frozen=True):
    """The description of a net at first look: parameters and outputs, or its forward's failure.

    Parameters are in the order of their declaration. ``bare`` tells a single output returned as
    such from a 1-tuple.
    """

    parameters: tuple[ParameterSpec, ...] = ()
    outputs: tuple[OutputSpec, ...] = ()
    bare: bool = True
    error: Failure | None = None


class Nothing(msgspec.Struct, frozen=True):
    """The request to a function that needs no argument."""
