"""What crosses process borders about a gradient: requests to an engine, its result, and the report made of them."""

from typing import Literal

import msgspec

from explorer.align import Alignment
from explorer.arrays import Array
from explorer.cases import GradCase
from explorer.graph import GradGraph

Outcome = Literal["ok", "raised", "unsupported", "crashed", "timed_out", "not_defined"]
Verdict = Literal["match", "close", "differs", "all_raise", "some_raise", "not_compared"]
ORACLE = "central-differences"
"""The name under which the independent oracle stands beside the engines."""


class Failure(msgspec.Struct, frozen=True):
    """What an engine said when it could not answer: the exception's type, its message, and the user's line if one is known."""

    type: str
    message: str
    source: str = ""


class Leaf(msgspec.Struct, frozen=True):
    """One tensor of a result, under the name that a reader knows it by: "dx", "dfc.weight", "logits"."""

    name: str
    value: Array


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One engine's answer to one case.

    ``structure`` nests the names of ``leaves`` as MindSpore returns them; ``natural`` is the structure of the engine's own
    idiom; ``ids`` are the names that ``return_ids=True`` adds; ``code`` is what a reader can paste to get the same;
    ``note`` says what the code had to do to get there.
    """

    outcome: Outcome
    structure: str = ""
    leaves: tuple[Leaf, ...] = ()
    natural: str = ""
    ids: tuple[str, ...] = ()
    error: Failure | None = None
    code: str = ""
    note: str = ""


class NetRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which net an engine is to build: the scenario file, the device, and where the net starts.

    ``parameters`` and buffers are keyed by PyTorch's names and overwrite the net's own; ``trainable`` is the order in which all
    weights are asked for, so that every engine returns them alike. Both are empty in the first look at a net.
    """

    scenario: str
    engine: str
    device: str = "cpu"
    parameters: dict[str, Array] = {}
    trainable: tuple[str, ...] = ()


class ParameterSpec(msgspec.Struct, frozen=True):
    """A parameter or buffer as a framework declares it; ``name`` is PyTorch's, ``own_name`` the framework's."""

    name: str
    own_name: str
    trainable: bool
    value: Array


class OutputSpec(msgspec.Struct, frozen=True):
    """Shape and dtype of one output of the forward."""

    shape: tuple[int, ...]
    dtype: str


class Description(msgspec.Struct, frozen=True):
    """What a first look at a net found: its parameters in declaration order, its outputs, or why its forward failed.

    ``bare`` tells a single output returned as such from a 1-tuple.
    """

    parameters: tuple[ParameterSpec, ...] = ()
    outputs: tuple[OutputSpec, ...] = ()
    bare: bool = True
    error: Failure | None = None


class AnswerRequest(msgspec.Struct, frozen=True):
    """One case to be answered on one net."""

    net: NetRequest
    case: GradCase


class CaptureRequest(msgspec.Struct, frozen=True):
    """One case whose gradient graph is to be captured; ``values`` observes every node's value too."""

    net: NetRequest
    case: GradCase
    values: bool = True


class Captured(msgspec.Struct, frozen=True):
    """The graphs of one case, last stage last (usually one), and the answer computed while they were captured."""

    graphs: tuple[GradGraph, ...]
    result: Result


class OracleRequest(msgspec.Struct, frozen=True):
    """A gradient to be estimated from the forward alone, in float64."""

    net: NetRequest
    case: GradCase


class Estimate(msgspec.Struct, frozen=True):
    """One leaf of the oracle's answer: every element, or directional derivatives along seeded directions.

    With ``directions`` k > 0, ``value`` holds k numbers: the derivative along each row of ``directions(name, k, shape)``.
    """

    name: str
    value: Array
    directions: int = 0


class OracleResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The oracle's answer to one case, or why there is none."""

    outcome: Outcome
    estimates: tuple[Estimate, ...] = ()
    error: Failure | None = None


class About(msgspec.Struct, frozen=True):
    """What a worker says of itself: versions by package name, and the devices that its framework can use here."""

    versions: dict[str, str]
    devices: tuple[str, ...]


class Difference(msgspec.Struct, frozen=True):
    """The greatest difference of a case: its size, the two engines, the leaf, and the element's index; or what differs first.

    ``what`` is "value", "structure", "shape", "dtype" or "outcome"; only "value" has figures and an index.
    """

    what: Literal["value", "structure", "shape", "dtype", "outcome"]
    engines: tuple[str, str]
    abs: float = 0.0
    rel: float = 0.0
    leaf: str = ""
    index: tuple[int, ...] = ()
    detail: str = ""


class CaseReport(msgspec.Struct, frozen=True, kw_only=True):
    """One case with every engine's result, the verdict on them, and whether that is what the scenario expects.

    ``reason`` says why a difference is expected, or what is unexpected. ``oracle_agrees`` is None where it was not compared.
    """

    case: GradCase
    results: dict[str, Result]
    oracle: OracleResult
    oracle_agrees: bool | None
    verdict: Verdict
    expected: bool
    reason: str = ""
    greatest: Difference | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the explorer found out about one scenario."""

    schema: int = 1
    scenario: str
    title: str
    notes: str
    versions: dict[str, str]
    devices: dict[str, str]
    inputs: tuple[Leaf, ...]
    parameters: tuple[Leaf, ...]
    cases: tuple[CaseReport, ...]
    graphs: tuple[GradGraph, ...] = ()
    ungraphed: dict[str, str] = {}
    alignments: tuple[Alignment, ...] = ()


class Nothing(msgspec.Struct, frozen=True):
    """The request of a question that needs no argument."""
