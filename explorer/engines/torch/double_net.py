"""PyTorch's net in float64 as a function of its leaves, for differences of its outputs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import msgspec
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.double_net import NOTHING_VARIED, DoubleNet, LeafKey, rounding, sums
from explorer.engines.kink_births import Computed
from explorer.engines.time_spent import TimeSpent
from explorer.engines.torch.net import (
    SEED,
    bare,
    build,
    flat,
    require_gradients,
    start_random_numbers,
)
from explorer.engines.torch.operator_values import OperatorValues
from explorer.engines.torch.stopped_values import StoppedValues
from explorer.engines.torch.tensors import array_of
from explorer.model.arrays import AnyArray
from explorer.model.cases import GradCase
from explorer.model.requests import NetRequest


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


class FrameworksNet(DoubleNet):
    """PyTorch's net: every evaluation starts from the same state, seed and inputs."""

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
        self.rounding = rounding(array_of(output.detach()) for output in flat(outputs))

    def leaves(self, case: GradCase) -> dict[str, LeafKey]:
        """The leaves that a case differentiates, by the names of their gradients."""
        return dict(zip(self.net.leaves(case), self.net.leaf_keys(case), strict=True))

    def start(self, leaf: LeafKey) -> AnyArray:
        """The value of a leaf before it is varied."""
        return array_of(self.state[leaf] if isinstance(leaf, str) else self.arguments[leaf])

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
        values: Mapping[LeafKey, AnyArray] = NOTHING_VARIED,
        *watching: AbstractContextManager[Any],
    ) -> Any:
        """The return value of the net with some leaves set to other ``values``."""
        tensors = {leaf: torch.from_numpy(value) for leaf, value in values.items()}
        spent = TimeSpent()
        # All of the state is set anew: a forward moves running statistics.
        with spent.counted(), torch.no_grad():
            for name, start in self.state.items():
                self.net.state[name].copy_(tensors.get(name, start))
        # Clones: a net may change its inputs in place.
        arguments = list(map(torch.clone, self.arguments))
        for leaf, value in tensors.items():
            if isinstance(leaf, int):
                arguments[leaf] = value
        start_random_numbers(SEED)
        if self._has_tape:
            require_gradients(arguments)
        # Not under no_grad: what the net itself puts under it is a constant to every engine.
        self._stopped.rewind()
        with ExitStack() as modes:
            for mode in (*self._modes, *watching):
                modes.enter_context(mode)
            with spent.counted():
                outputs = self.net.call(*arguments)
        # The least: the first evaluation may import, and others are watched or interrupted.
        self.seconds = min(self.seconds, spent.seconds)
        return outputs

    def sums(self, values: Mapping[LeafKey, AnyArray] = NOTHING_VARIED) -> AnyArray:
        """The sums of the outputs."""
        return sums(array_of(output.detach()) for output in flat(self.outputs(values)))

    def computed(self, values: Mapping[LeafKey, AnyArray]) -> Sequence[Computed]:
        """What each operator computes."""
        run = OperatorValues()
        self.outputs(values, run)
        return run.calls


def _same_way(one: StoppedValues, other: StoppedValues, outputs: Any, others: Any) -> bool:
    """Whether two runs stop as many values and return the same."""
    if one.count != other.count:
        return False
    pairs = zip(flat(outputs), flat(others), strict=True)
    return all(_equal(left.detach(), right.detach()) for left, right in pairs)


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool(torch.allclose(one, other, equal_nan=True))
