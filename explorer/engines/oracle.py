"""Central differences in float64: gradients estimated from the forward alone.

They are independent of any automatic differentiation, and of the precision that a net rounds to.
What the net itself cuts off from the tape is held, as every derivative takes it.
"""

import functools
import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import msgspec
import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.torch.errors import failure
from explorer.engines.torch.net import (
    SEED,
    LeafKey,
    array_of,
    bare,
    build,
    dtype_of,
    flat,
    identity,
    require_gradients,
    start_random_numbers,
)
from explorer.engines.torch.stopped_values import StoppedValues
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.errors import RefusedNetError
from explorer.model.failures import Failure
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Estimate, OracleResult
from explorer.numeric.cotangents import cotangent
from explorer.numeric.differences import directions, is_kink

STEP = 1e-6
"""The distance by which a leaf is varied to either side.

The error of a central difference is about STEP² times the third derivative, and that of rounding
about 1e-16 / STEP: at 1e-6 both are far below the tolerances of the comparison.
"""

ROUNDING = 8 * 2.0**-53
"""The rounding of an output in float64, as a share of it: it is divided by twice the step."""

WHOLE = 512
"""Up to this many elements requested, each is estimated.

Beyond it, DIRECTIONS derivatives of every leaf are.
"""

DIRECTIONS = 16
"""The number of directional derivatives of a leaf that is too large to estimate whole."""

MOST_ALONE = 64
"""Up to this many leaves each is varied along DIRECTIONS of its own."""

MOST_GROUPS = 128
FEW_DIRECTIONS = 4
"""Of more leaves neighbours are varied together, in so many groups along so many directions.

Each derivative takes two forwards: one leaf at a time, they would grow with the square of a net's depth.
"""

KEPT = 4
"""The number of nets that a worker keeps: all cases of a matrix share one and its estimates."""


def estimate(request: CaseRequest) -> OracleResult:
    """The gradients of a case, leaf by leaf, on the CPU in float64.

    Every position of an input is varied by itself. An exception is a result too.
    """
    case = request.case
    if case.order > 1:
        # With a step of 1e-6, a second difference would divide rounding errors by 1e-12.
        return OracleResult(
            "unsupported", error=Failure("NotImplementedError", kind="nested_differences")
        )
    if case.must_fail:
        return OracleResult("raised", error=Failure("ValueError", kind="nothing_to_vary"))
    try:
        with _double_precision():
            function = _function(request.net)
            if case.has_aux and function.bare:
                refused = Failure("ValueError", kind="no_auxiliary_outputs")
                return OracleResult("raised", error=refused)
            return OracleResult("ok", _estimates(function, case), stops=function.stops)
    except Exception as error:
        return OracleResult("raised", error=failure(error, request.net.scenario))


@contextmanager
def _double_precision() -> Iterator[None]:
    """Make float64 what a net creates when it does not say otherwise."""
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


class _NoCoarseCasts(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Keeps float64 what a net would cast to a coarser dtype: a step of STEP vanishes in float16.

    The engines' own rounding is part of their noise, and not of the derivative. ``has_cast`` says
    whether there was such a cast.
    """

    has_cast = False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        dtype = kwargs.get("dtype")
        if isinstance(dtype, torch.dtype) and dtype.is_floating_point:
            self.has_cast |= dtype != torch.float64
            kwargs = {**kwargs, "dtype": torch.float64}
        return func(*args, **kwargs)


class LeafGroup(NamedTuple):
    """Leaves that are varied together, and the names of their gradients."""

    leaves: tuple[LeafKey, ...]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the gradient, or of the first and the last of several."""
        first, *others = self.names
        if not others:
            return first
        return f"{first} … {others[-1]}"


class Slopes(NamedTuple):
    """Central differences of the sums, and half of what the slopes to either side differ by.

    Both have shape (directions, outputs, 2).
    """

    central: AnyArray
    parting: AnyArray


NOTHING_VARIED: Mapping[LeafKey, torch.Tensor] = {}


class _Function:
    """A net in float64 as a function of its leaves.

    Every evaluation starts from the same state, seed and inputs.
    """

    def __init__(self, request: NetRequest) -> None:
        self._casts = _NoCoarseCasts()
        with self._casts:
            self.net = build(msgspec.structs.replace(request, device="cpu"), torch.float64)
        # Every position gets a tensor of its own, also where two inputs are one array: graph engines
        # differentiate them apart.
        self.arguments = list(map(torch.clone, self.net.arguments))
        self.state = {name: value.detach().clone() for name, value in self.net.state.items()}
        # A tape would be kept for what requires a gradient, and in-place changes refused.
        for value in (*self.arguments, *self.net.state.values()):
            value.requires_grad_(False)
        self._stopped = StoppedValues()
        self._slopes: dict[tuple[tuple[LeafKey, ...], int], Slopes] = {}
        self._with_gradients = False
        self._modes: tuple[Any, ...] = (self._casts, self._stopped)
        self._casts.has_cast = False
        outputs = self._first_outputs()
        self.stops = self._stopped.has_any
        # Most nets neither cast nor stop anything, and modes make an operator four times as slow.
        if not (self._casts.has_cast or self.stops):
            self._modes = ()
        self.bare = bare(outputs)
        self.first_outputs = 0 if self.bare else len(list(flat(outputs[0])))
        size = sum(map(_size, flat(outputs)))
        self.noise = 0.0
        if np.isfinite(size):
            self.noise = ROUNDING * size / STEP

    def start(self, leaf: LeafKey) -> torch.Tensor:
        """The value of a leaf before it is varied."""
        if isinstance(leaf, str):
            return self.state[leaf]
        return self.arguments[leaf]

    def _first_outputs(self) -> Any:
        """The return value of the net, which may need gradients in its forward."""
        try:
            return self._outputs()
        except RuntimeError as error:
            self._with_gradients = True
            try:
                return self._outputs()
            except RuntimeError:
                raise error from None

    def _outputs(self, values: Mapping[LeafKey, torch.Tensor] = NOTHING_VARIED) -> Any:
        """The return value of the net with some leaves set to other ``values``."""
        # All of the state is set anew: a forward moves running statistics.
        with torch.no_grad():
            for name, start in self.state.items():
                self.net.state[name].copy_(values.get(name, start))
        # Clones: a net may change its inputs in place.
        arguments = list(map(torch.clone, self.arguments))
        for leaf, value in values.items():
            if isinstance(leaf, int):
                arguments[leaf] = value
        start_random_numbers(SEED)
        if self._with_gradients:
            require_gradients(arguments)
        # Not under no_grad: what the net itself puts under it is a constant to every engine.
        self._stopped.rewind()
        with ExitStack() as modes:
            for mode in self._modes:
                modes.enter_context(mode)
            return self.net.call(*arguments)

    def _sums(self, values: Mapping[LeafKey, torch.Tensor]) -> AnyArray:
        """The sum of each output, and of its product with the explicit cotangent.

        Every case combines these. The leaves are set to ``values``; the result has shape (outputs, 2).
        An output of integers counts as zeros. Raises RefusedNetError for one that is not float64: a step
        of STEP would vanish in it.
        """
        rows = []
        for index, output in enumerate(flat(self._outputs(values))):
            if output.is_complex():
                # With a cotangent of ones the gradient is that of the real parts (torch 2.13).
                output = output.real
            if not output.is_floating_point():
                array = np.zeros(tuple(output.shape))
            elif output.dtype == torch.float64:
                array = array_of(output)
            else:
                # The net made float32 or less of its float64 leaves.
                dtype = str(output.dtype)
                raise RefusedNetError("coarse_output", str(index), dtype, str(STEP))
            product = array * cotangent(index, array.shape, "float64")
            rows.append((array.sum(), product.sum()))
        return np.array(rows)

    @functools.cached_property
    def _middle(self) -> AnyArray:
        """The sums without variation; RefusedNetError if a second run gives others."""
        sums, again = self._sums(NOTHING_VARIED), self._sums(NOTHING_VARIED)
        same = (sums == again) | (np.abs(sums - again) <= self.noise * STEP)
        if np.isfinite(sums).all() and not same.all():
            raise RefusedNetError("not_deterministic")
        return sums

    def slopes(self, group: LeafGroup, count: int) -> Slopes:
        """Differences of the sums along ``count`` directions, or of 0 along each element.

        All leaves of a group are varied at once, each along directions seeded by its gradient's name; one
        alone can be varied along its elements. Raises RefusedNetError for a leaf of integers, and for a net
        that is not deterministic.
        """
        key = group.leaves, count
        if key not in self._slopes:
            differences = []
            partings = []
            for steps in zip(*self._steps(group, count), strict=True):
                sums = []
                for sign in (1, -1):
                    values = {}
                    for leaf, step in zip(group.leaves, steps, strict=True):
                        values[leaf] = self.start(leaf) + sign * step
                    sums.append(self._sums(values))
                differences.append(sums[0] - sums[1])
                partings.append(sums[0] + sums[1] - 2 * self._middle)
            twice = 2 * STEP
            self._slopes[key] = Slopes(np.array(differences) / twice, np.array(partings) / twice)
        return self._slopes[key]

    def _steps(self, group: LeafGroup, count: int) -> Iterator[Iterator[torch.Tensor]]:
        """For each leaf of a group the steps that it makes, one after another."""
        for leaf, name in zip(group.leaves, group.names, strict=True):
            start = self.start(leaf)
            if not start.is_floating_point():
                leaf_name = name.removeprefix("d")
                raise RefusedNetError("integer_leaf", leaf_name, dtype_of(start))
            shape, size = tuple(start.shape), start.numel()
            rows = np.eye(size).reshape(size, *shape)
            if count:
                rows = directions(name, count, shape)
            yield (torch.tensor(row) * STEP for row in rows)


def _size(output: torch.Tensor) -> float:
    """The sum of the absolute values of an output of floats; 0 for any other."""
    if not output.is_floating_point():
        return 0.0
    return float(output.abs().sum())


_functions: OrderedDict[bytes, _Function] = OrderedDict()


def _function(request: NetRequest) -> _Function:
    key = identity(request)
    if key not in _functions:
        _functions[key] = _Function(request)
        if len(_functions) > KEPT:
            _functions.popitem(last=False)
    return _functions[key]


def _estimates(function: _Function, case: GradCase) -> tuple[Estimate, ...]:
    leaves = function.net.leaf_keys(case)
    names = function.net.leaves(case)
    alone = [LeafGroup((leaf,), (name,)) for leaf, name in zip(leaves, names, strict=True)]
    whole = sum(function.start(leaf).numel() for leaf in leaves) <= WHOLE
    groups, count = alone, 0
    if not whole:
        groups, count = _groups(alone)
    estimates = []
    for group in groups:
        slopes = function.slopes(group, count)
        central = _of_case(slopes.central, case, function.first_outputs)
        parting = _of_case(slopes.parting, case, function.first_outputs)
        # Of a net that is not finite in the middle, two finite sides tell nothing either.
        central = np.where(np.isfinite(parting), central, np.nan)
        parting = np.where(is_kink(central, parting, function.noise), np.abs(parting), 0.0)
        if whole:
            shape = tuple(function.start(group.leaves[0]).shape)
            central, parting = central.reshape(shape), parting.reshape(shape)
        estimate = Estimate(group.name, pack(central), count, function.noise)
        if len(group.names) > 1:
            estimate = msgspec.structs.replace(estimate, together=group.names)
        if parting.any():
            estimate = msgspec.structs.replace(estimate, kinks=pack(parting))
        estimates.append(estimate)
    return tuple(estimates)


def _of_case(slopes: AnyArray, case: GradCase, first_outputs: int) -> AnyArray:
    """The slopes of a case, one number a direction."""
    outputs = slopes
    if case.has_aux:
        # Just the first output is differentiated, otherwise the sum of all.
        outputs = slopes[:, :first_outputs]
    along: AnyArray = outputs[:, :, int(case.sens_param)].sum(axis=1).astype(np.float64)
    return along


def _groups(alone: list[LeafGroup]) -> tuple[list[LeafGroup], int]:
    """The leaves that are varied together, and along how many directions.

    Inputs stay alone, so that the groups of parameters are the same whichever inputs are requested.
    """
    if len(alone) <= MOST_ALONE:
        return alone, DIRECTIONS
    groups = [group for group in alone if isinstance(group.leaves[0], int)]
    parameters = alone[len(groups) :]
    size = math.ceil(len(parameters) / MOST_GROUPS)
    for first in range(0, len(parameters), size):
        members = parameters[first : first + size]
        leaves: list[LeafKey] = []
        names: list[str] = []
        for member in members:
            leaves += member.leaves
            names += member.names
        groups.append(LeafGroup(tuple(leaves), tuple(names)))
    return groups, FEW_DIRECTIONS
