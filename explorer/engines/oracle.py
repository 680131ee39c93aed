"""Central differences in float64: gradients estimated from the forward alone, independent of any
automatic differentiation.
"""

from collections import OrderedDict
from typing import Any

import msgspec
import numpy as np
import torch

from explorer.engines.torch.errors import failure
from explorer.engines.torch.net import SEED, Net, array_of, bare, build, flat, identity
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.errors import UsageError
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Estimate, Failure, OracleResult
from explorer.numeric.cotangents import cotangent
from explorer.numeric.directions import directions

STEP = 1e-6
WHOLE = 512
"""Up to this many elements asked for, each is estimated; beyond it, DIRECTIONS derivatives of every
leaf.
"""

DIRECTIONS = 16
KEPT = 4
"""How many nets a worker keeps with their estimates."""

NESTED = "central differences of step 1e-6 cannot be nested: a second difference would divide rounding errors by 1e-12"
NOTHING = "neither an input nor a weight is asked for, so there is nothing to vary"
BARE = "the net returns one output as such, so there are no auxiliary outputs to set aside"


def estimate(request: CaseRequest) -> OracleResult:
    """The gradients of a case, leaf by leaf, on the CPU in float64; every position of an input is
    varied by itself.
    """
    case = request.case
    if case.order > 1:
        return OracleResult("unsupported", error=Failure("NotImplementedError", NESTED))
    if case.must_fail:
        return OracleResult("raised", error=Failure("ValueError", NOTHING))
    try:
        with _DoublePrecision():
            function = _function(request.net)
            if case.has_aux and function.bare:
                return OracleResult("raised", error=Failure("ValueError", BARE))
            return OracleResult("ok", _estimates(function, case))
    except Exception as error:
        return OracleResult("raised", error=failure(error, request.net.scenario))


class _DoublePrecision:
    """Makes float64 what a net creates when it does not say otherwise."""

    def __enter__(self) -> None:
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *_: object) -> None:
        torch.set_default_dtype(torch.float32)


class _Function:
    """A net in float64 as a function of its leaves: from the same state, seed and inputs at every
    evaluation.

    An input's leaf is its position, a weight's its name. ``weigh`` gives, for every output, its
    elements' sum and their product with the explicit cotangents: what every case combines.
    """

    def __init__(self, request: NetRequest) -> None:
        self.net: Net = build(msgspec.structs.replace(request, device="cpu"), torch.float64)
        self.arguments = [argument.clone() for argument in self.net.arguments]
        self.state = {name: value.detach().clone() for name, value in self.net.state.items()}
        self.known: dict[tuple[int | str, bool], AnyArray] = {}
        self.bare = bare(self.outputs(-1, None))

    def start(self, leaf: int | str) -> torch.Tensor:
        """Where a leaf stands unvaried."""
        return self.state[leaf] if isinstance(leaf, str) else self.arguments[leaf]

    @torch.no_grad()  # type: ignore[untyped-decorator]  # torch is untyped here
    def outputs(self, leaf: int | str, value: torch.Tensor | None) -> Any:
        """What the net returns with one leaf set to ``value``."""
        for name, kept in self.state.items():
            self.net.state[name].copy_(value if name == leaf else kept)
        torch.manual_seed(SEED)
        return self.net.call(
            *(value if index == leaf else kept.clone() for index, kept in enumerate(self.arguments))
        )

    def weigh(self, leaf: int | str, value: torch.Tensor) -> AnyArray:
        """(sum, product with the cotangent) of every output, with one leaf set to ``value``;
        integers weigh nothing.
        """
        rows = []
        for index, output in enumerate(flat(self.outputs(leaf, value.clone()))):
            if output.is_floating_point() and output.dtype != torch.float64:
                raise UsageError(
                    f"output {index} of the net in float64 is {output.dtype}: too coarse for a step of {STEP}"
                )
            array = (
                array_of(output) if output.is_floating_point() else np.zeros(tuple(output.shape))
            )
            rows.append((array.sum(), (array * cotangent(index, array.shape, "float64")).sum()))
        return np.array(rows)

    def slopes(self, leaf: int | str, name: str, whole: bool) -> AnyArray:
        """Central differences of ``weigh`` along each element of a leaf, or along seeded
        directions: (directions, outputs, 2).
        """
        if (leaf, whole) not in self.known:
            start = self.start(leaf)
            if not start.is_floating_point():
                raise UsageError(
                    f"{name[1:]} holds {str(start.dtype)[6:]}: there is nothing between two integers to vary it by"
                )
            shape, size = tuple(start.shape), start.numel()
            rows = (
                np.eye(size).reshape(size, *shape) if whole else directions(name, DIRECTIONS, shape)
            )
            steps = (torch.tensor(row) * STEP for row in rows)
            found = [
                self.weigh(leaf, start + step) - self.weigh(leaf, start - step) for step in steps
            ]
            self.known[leaf, whole] = np.array(found) / (2 * STEP)
        return self.known[leaf, whole]


_functions: OrderedDict[bytes, _Function] = OrderedDict()


def _function(request: NetRequest) -> _Function:
    key = identity(request)
    if key not in _functions:
        _functions[key] = _Function(request)
        if len(_functions) > KEPT:
            _functions.popitem(last=False)
    return _functions[key]


def _estimates(function: _Function, case: GradCase) -> tuple[Estimate, ...]:
    names = list(function.net.leaves(case))
    leaves: list[int | str] = [
        *case.positions,
        *(name[1:] for name in names[len(case.positions) :]),
    ]
    whole = sum(function.start(leaf).numel() for leaf in leaves) <= WHOLE
    made = []
    for name, leaf in zip(names, leaves, strict=True):
        slopes = function.slopes(leaf, name, whole)[:, :, int(case.sens_param)]
        along = (slopes[:, 0] if case.has_aux else slopes.sum(axis=1)).astype(np.float64)
        shape = tuple(function.start(leaf).shape)
        made.append(
            Estimate(
                name,
                pack(along.reshape(shape)) if whole else pack(along),
                0 if whole else DIRECTIONS,
            )
        )
    return tuple(made)
