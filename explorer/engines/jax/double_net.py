"""JAX's net in float64 as a function of its leaves, for differences of its outputs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import msgspec
from jax._src import core

from explorer.engines.double_net import NOTHING_VARIED, DoubleNet, LeafKey, rounding, sums
from explorer.engines.jax.devices import devices
from explorer.engines.jax.eager_trace import EagerTrace
from explorer.engines.jax.gradient_calls import Function
from explorer.engines.jax.net import built, flat
from explorer.engines.jax.programs import called
from explorer.engines.jax.recording import run
from explorer.engines.jax.tensors import array_of
from explorer.engines.jax.versions import enable_x64
from explorer.engines.kink_births import Computed
from explorer.engines.time_spent import TimeSpent
from explorer.model.arrays import AnyArray
from explorer.model.cases import GradCase
from explorer.model.requests import NetRequest

CAST = "convert_element_type"
STOP = "stop_gradient"
"""The operations that change a dtype, and that cut a value off from differentiation."""


@contextmanager
def double_precision() -> Iterator[None]:
    """Make JAX compute in float64 on the CPU, operation by operation."""
    with enable_x64(True), jax.disable_jit(), jax.default_device(devices()["cpu"]):
        yield


def _without_coarse_cast(primitive: Any, params: Any) -> Any:
    """The parameters of an operation, that of a cast to a floating dtype with float64."""
    if primitive.name == CAST and jnp.issubdtype(params["new_dtype"], jnp.floating):
        # A step would vanish in a coarser dtype: the engines' own rounding is part of their noise.
        return {**params, "new_dtype": jnp.dtype("float64")}
    return params


class HeldTrace(EagerTrace):
    """Runs operations in float64, and gives the values that are cut off as a first run had them.

    ``held`` are those of the first run, to which a first run adds. What runs is added to ``calls``.
    It is made where the net is called: where JAX traces that call, operations are handed on to be traced.
    """

    def __init__(self, held: list[Any], calls: list[Computed] | None = None) -> None:
        super().__init__()
        self._outer = core.trace_ctx.trace
        self._held = held
        self._calls = calls
        self._place = 0

    def process_primitive(self, primitive: Any, operands: Any, params: Any) -> Any:
        """Run an operation, or the operations of a program one by one."""
        inner = called(primitive, params)
        if inner is not None:
            with self.running():
                return core.eval_jaxpr(inner.jaxpr, inner.constants, *operands)
        outputs = run(primitive, operands, _without_coarse_cast(primitive, params), self._outer)
        if primitive.name == STOP:
            outputs = [self._as_at_first(outputs[0])]
        if self._calls is not None:
            values = tuple(map(array_of, outputs))
            call = Computed(primitive.name, tuple(operands), tuple(outputs), values)
            self._calls.append(call)
        return outputs if primitive.multiple_results else outputs[0]

    def _as_at_first(self, value: Any) -> Any:
        place, self._place = self._place, self._place + 1
        if place == len(self._held):
            self._held.append(value)
        held = self._held[place]
        # A net that takes another way than at first stops other values: these stay as they are.
        return held if (held.shape, held.dtype) == (value.shape, value.dtype) else value


SLOW = 0.02
"""A net whose evaluation takes longer than these seconds is compiled before it is evaluated often."""


class FrameworksNet(DoubleNet):
    """JAX's net: a function of its parameters and inputs.

    One that is evaluated slowly, operation by operation, is compiled, unless Python looks at its values.
    """

    def __init__(self, request: NetRequest) -> None:
        with built(msgspec.structs.replace(request, device="cpu"), in_float64=True) as net:
            self.net = net
        self._held: list[Any] = []
        self._compiled: Function | None = None
        self.seconds = math.inf
        outputs = self._outputs(NOTHING_VARIED)
        self.stops = len(self._held) > 0
        self.bare = not (isinstance(outputs, tuple) and len(outputs) > 1)
        self.first_outputs = 0 if self.bare else len(list(flat(outputs[0])))
        self.rounding = rounding(map(array_of, flat(outputs)))
        self._compiled = self._compile() if self.seconds > SLOW else None

    def leaves(self, case: GradCase) -> dict[str, LeafKey]:
        """The leaves that a case differentiates, by the names of their gradients."""
        keys: list[LeafKey] = [*case.positions, *self.net.weights(case)]
        return dict(zip(self.net.leaves(case), keys, strict=True))

    def start(self, leaf: LeafKey) -> AnyArray:
        """The value of a leaf before it is varied."""
        if isinstance(leaf, str):
            return array_of(self.net.parameters[leaf])
        return array_of(self.net.arguments[leaf])

    def sums(self, values: Mapping[LeafKey, AnyArray] = NOTHING_VARIED) -> AnyArray:
        """The sums of the outputs."""
        return sums(map(array_of, flat(self._outputs(values))))

    def computed(self, values: Mapping[LeafKey, AnyArray]) -> Sequence[Computed]:
        """What each operation computes."""
        calls: list[Computed] = []
        self._outputs(values, calls)
        return calls

    def _outputs(
        self, values: Mapping[LeafKey, AnyArray], calls: list[Computed] | None = None
    ) -> Any:
        """The outputs with some leaves set to other ``values``; what runs is added to ``calls``."""
        given = self._given(values)
        spent = TimeSpent()
        with spent.counted():
            if self._compiled is not None and calls is None:
                outputs = self._compiled(self._held, given)
            else:
                outputs = self._call(self._held, given, calls)
        # The least: the first evaluation may import and compile.
        self.seconds = min(self.seconds, spent.seconds)
        return outputs

    def _given(self, values: Mapping[LeafKey, AnyArray]) -> tuple[Any, ...]:
        """The arguments of the net with some leaves set to other ``values``."""
        parameters = dict(self.net.parameters)
        arguments = list(self.net.arguments)
        for leaf, value in values.items():
            if isinstance(leaf, int):
                arguments[leaf] = jnp.asarray(value)
            else:
                parameters[leaf] = jnp.asarray(value)
        return parameters, *arguments

    def _call(self, held: list[Any], given: tuple[Any, ...], calls: list[Computed] | None) -> Any:
        with HeldTrace(held, calls).running():
            return self.net.call(*given)

    def _compile(self) -> Function | None:
        """The net as one program; None where JAX cannot make it one."""

        def outputs(held: Sequence[Any], given: tuple[Any, ...]) -> Any:
            return self._call(list(held), given, None)

        arguments = self._held, self._given(NOTHING_VARIED)
        try:
            program, form = jax.make_jaxpr(outputs, return_shape=True)(*arguments)
        except Exception:
            return None  # Python looks at a value, or numpy computes something of it
        compiled = jax.jit(core.jaxpr_as_fun(program))

        def call(*given: Any) -> Any:
            with jax.disable_jit(False):
                results = jax.block_until_ready(compiled(*jax.tree.leaves(given)))
            return jax.tree.unflatten(jax.tree.structure(form), results)

        return call
