"""PyTorch's net in float64 as a function of its leaves, for differences of its outputs."""

import functools
import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import msgspec
import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.time_spent import TimeSpent
from explorer.engines.torch.net import (
    SEED,
    LeafKey,
    bare,
    build,
    flat,
    require_gradients,
    start_random_numbers,
)
from explorer.engines.torch.stopped_values import StoppedValues
from explorer.engines.torch.tensors import array_of
from explorer.model.arrays import AnyArray
from explorer.model.errors import RefusedNetError
from explorer.model.requests import NetRequest
from explorer.numeric.cotangents import cotangent
from explorer.numeric.slopes import STEP

ROUNDING = 8 * 2.0**-53
"""The rounding of an output in float64, as a share of it: it is divided by twice the step."""

NOTHING_VARIED: Mapping[LeafKey, torch.Tensor] = {}


@contextmanager
def double_precision() -> Iterator[None]:
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


class DoubleNet:
    """A net in float64 as a function of its leaves.

    Every evaluation starts from the same state, seed and inputs. ``stops`` says that the net cuts
    values off from the tape, which are held. ``seconds`` is the least time of an evaluation so far.
    """

    def __init__(self, request: NetRequest) -> None:
        self._casts = _NoCoarseCasts()
        with self._casts:
            self.net = build(msgspec.structs.replace(request, device="cpu"), torch.float64)
        # Every position gets a tensor of its own, also where two inputs are one array: graph engines
        # differentiate them apart.
        self.arguments = list(map(torch.clone, self.net.arguments))
        self.state = {name: value.detach().clone() for name, value in self.net.state.items()}
        self._trained = [value for value in self.net.state.values() if value.requires_grad]
        self._casts.has_cast = False
        self._stopped = StoppedValues()
        self._has_tape = False
        self.seconds = math.inf
        self._modes: tuple[Any, ...] = (self._casts, self._stopped)
        outputs = self._first_outputs()
        self.stops = self._stopped.has_any
        # Most nets neither cast nor stop anything, and modes make an operator four times as slow.
        if not (self._casts.has_cast or self.stops):
            self._modes = ()
        self.bare = bare(outputs)
        self.first_outputs = 0 if self.bare else len(list(flat(outputs[0])))
        size = sum(map(_size, flat(outputs)))
        self.rounding = ROUNDING * size if np.isfinite(size) else 0.0
        self.noise = self.rounding / STEP

    def start(self, leaf: LeafKey) -> torch.Tensor:
        """The value of a leaf before it is varied."""
        if isinstance(leaf, str):
            return self.state[leaf]
        return self.arguments[leaf]

    def _first_outputs(self) -> Any:
        """The outputs of the net, and the choice whether its inputs and weights require gradients.

        Those of the engines do, and a net may look: it differentiates in its forward, or detaches
        what does not require gradients. But a tape takes time and memory, and refuses to change in
        place what requires gradients: a net that does the same without goes without.
        """
        plain, outputs = self._attempt(has_tape=False)
        taped, outputs_on_tape = self._attempt(has_tape=True)
        if plain and (taped is None or _same_way(plain, taped, outputs, outputs_on_tape)):
            self._use(plain, has_tape=False)
            return outputs
        if taped is None:
            raise outputs
        self._use(taped, has_tape=True)
        return outputs_on_tape

    def _attempt(self, has_tape: bool) -> tuple[StoppedValues | None, Any]:
        """What a run stops, and its outputs; or None, and the error that it raises."""
        stopped = StoppedValues()
        self._use(stopped, has_tape)
        try:
            return stopped, self.outputs()
        except RuntimeError as error:
            return None, error

    def _use(self, stopped: StoppedValues, has_tape: bool) -> None:
        self._stopped, self._has_tape = stopped, has_tape
        self._modes = (self._casts, stopped)
        for value in self._trained:
            value.requires_grad_(has_tape)

    def outputs(
        self,
        values: Mapping[LeafKey, torch.Tensor] = NOTHING_VARIED,
        *watching: AbstractContextManager[Any],
    ) -> Any:
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
        if self._has_tape:
            require_gradients(arguments)
        # Not under no_grad: what the net itself puts under it is a constant to every engine.
        self._stopped.rewind()
        spent = TimeSpent()
        with ExitStack() as modes:
            for mode in (*self._modes, *watching):
                modes.enter_context(mode)
            with spent.counted():
                outputs = self.net.call(*arguments)
        # The least: the first evaluation may import, and others are watched or interrupted.
        self.seconds = min(self.seconds, spent.seconds)
        return outputs

    def sums(self, values: Mapping[LeafKey, torch.Tensor] = NOTHING_VARIED) -> AnyArray:
        """The sum of each output, and of its product with the explicit cotangent.

        Every case combines these. The leaves are set to ``values``; the result has shape (outputs, 2).
        An output of integers counts as zeros. Raises RefusedNetError for one that is not float64: a step
        of STEP would vanish in it.
        """
        rows = []
        for index, output in enumerate(flat(self.outputs(values))):
            output = output.detach()
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
    def middle(self) -> AnyArray:
        """The sums without variation; RefusedNetError if a second run gives others."""
        sums, again = self.sums(), self.sums()
        same = (sums == again) | (np.abs(sums - again) <= self.rounding)
        if np.isfinite(sums).all() and not same.all():
            raise RefusedNetError("not_deterministic")
        return sums


def _same_way(one: StoppedValues, other: StoppedValues, outputs: Any, others: Any) -> bool:
    """Whether two runs stop as many values and return the same."""
    if one.count != other.count:
        return False
    pairs = zip(flat(outputs), flat(others), strict=True)
    return all(_equal(left.detach(), right.detach()) for left, right in pairs)


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool(torch.allclose(one, other, equal_nan=True))


def _size(output: torch.Tensor) -> float:
    """The sum of the absolute values of an output of floats; 0 for any other."""
    if not output.is_floating_point():
        return 0.0
    return float(output.detach().abs().sum())
