"""Scenario nets in JAX: functions of parameters and inputs, with the same start as in every framework."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from explorer.engines.failures import refuse_keyword_only
from explorer.engines.jax import rule_numbers
from explorer.engines.jax.devices import devices
from explorer.engines.jax.errors import failure
from explorer.engines.jax.modules import as_function, held_by, is_module
from explorer.engines.jax.tensors import dtype_of, packed
from explorer.engines.jax.versions import enable_x64
from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.errors import OddOutputError, RefusedNetError
from explorer.model.requests import Description, NetRequest, OutputSpec, ParameterSpec, Role
from explorer.model.results import Leaf
from explorer.model.trees import Tree, leaves, left_out, names_in, tree_of
from explorer.numeric.random_arrays import jittered_arrays, jittered_records
from explorer.scenario.declaration import Declaration
from explorer.scenario.load import load, make_net
from explorer.scenario.matrix import structure

WIDE = ("float64", "complex128")
"""The dtypes for which JAX's 64-bit mode is switched on; without it JAX has none of them."""

rule_numbers.install()


@dataclass(frozen=True)
class Net:
    """One net ready to be called: ``call(parameters, *inputs)``.

    ``parameters`` has everything that PyTorch's net holds, by its names; ``trainable`` are the names
    that "all weights" stands for, in that order. ``is_module`` says that the scenario's net is a module
    of flax or equinox, which ``call`` makes anew from its parameters.
    """

    scenario: Declaration
    call: Callable[..., Any]
    inputs: dict[str, jax.Array]
    parameters: dict[str, jax.Array]
    trainable: tuple[str, ...]
    is_module: bool

    @property
    def arguments(self) -> tuple[jax.Array, ...]:
        """The input arrays in positional order."""
        return tuple(self.inputs.values())

    def weights(self, case: GradCase) -> tuple[str, ...]:
        """The names of the parameters that a case differentiates."""
        return case.weight_names(self.trainable)

    def leaves(self, case: GradCase) -> dict[str, jax.Array]:
        """The arrays that a case differentiates, by the names of their gradients: "dx"."""
        names = list(self.inputs)
        found = {f"d{names[index]}": self.inputs[names[index]] for index in case.positions}
        for name in self.weights(case):
            found[f"d{name}"] = self.parameters[name]
        return found


@contextmanager
def built(request: NetRequest, in_float64: bool = False) -> Iterator[Net]:
    """A fresh net of a request, and JAX on its device and in the precision that its arrays have.

    With ``in_float64`` all that is floating is converted to it.
    """
    scenario = load(request.scenario)
    inputs = jittered_arrays(scenario.inputs(), request.jitter)
    start = jittered_records(request.parameters, request.jitter)
    dtypes = [
        *(array.dtype.name for array in inputs.values()),
        *(it.dtype for it in start.values()),
    ]
    is_wide = in_float64 or any(dtype in WIDE for dtype in dtypes)
    with enable_x64(is_wide), jax.default_device(devices()[request.device]):
        parameters = {name: jnp.asarray(unpack(it), dtype=it.dtype) for name, it in start.items()}
        net = make_net(scenario, "jax")
        names = {**scenario.renames, **request.names}
        call = as_function(net, scenario.train, names)
        # One array at two places is two variables of a function, each with a gradient of its own.
        variables = {name: jnp.asarray(array) for name, array in inputs.items()}
        if in_float64:
            variables = {name: _in_float64(array) for name, array in variables.items()}
            parameters = {name: _in_float64(array) for name, array in parameters.items()}
        yield Net(scenario, call, variables, parameters, request.trainable, is_module(net))


def _in_float64(array: jax.Array) -> jax.Array:
    """An array of floats in float64; any other as it is."""
    return array.astype(jnp.float64) if jnp.issubdtype(array.dtype, jnp.floating) else array


def forward(net: Net) -> Any:
    """What the net returns, computed operation by operation."""
    return net.call(dict(net.parameters), *net.arguments)


def forms(net: Net) -> Any:
    """What the net returns, as shapes and dtypes: it is traced, and nothing is computed."""
    return jax.eval_shape(net.call, dict(net.parameters), *net.arguments)


def flat(value: Any) -> Iterator[Any]:
    """The arrays of a nested output from left to right; raises TypeError for anything else."""
    for leaf in leaves(value):
        if isinstance(leaf, (bool, int, float, complex)):
            yield jnp.asarray(leaf)
        elif hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
            yield leaf
        else:
            raise OddOutputError(leaf)


def returned_tree(net: Net, outputs: Any) -> Tree:
    """The names of a net's outputs, nested as it returned them."""
    return tree_of(outputs, net.scenario.outputs(len(list(flat(outputs)))))


def describe(request: NetRequest) -> Description:
    """The parameters that the net is given, and its outputs or why its forward failed."""
    parameters: tuple[ParameterSpec, ...] = ()
    try:
        with built(request) as net:
            parameters = tuple(_specs(request))
            refuse_keyword_only(net.call)
            outputs = forward(net)
            specs = [OutputSpec(tuple(it.shape), dtype_of(it)) for it in flat(outputs)]
            returned = returned_tree(net, outputs)
    except RefusedNetError as error:
        own = tuple(_held(request)) if error.failure.kind == "not_a_parameter" else ()
        return Description(parameters, error=failure(error, request.scenario), own=own)
    except Exception as error:
        return Description(parameters, error=failure(error, request.scenario))
    return Description(parameters, (), tuple(specs), returned, omitted=left_out(outputs))


def _held(request: NetRequest) -> Iterator[ParameterSpec]:
    """What a module holds, without its values: it is given others."""
    scenario = load(request.scenario)
    with built(request) as net:
        made = make_net(scenario, "jax")
        for held in held_by(made, scenario.train, net.arguments):
            role: Role = "trained" if held.is_trained else "buffer"
            value = pack(np.zeros(held.shape_in_torch, np.float32))
            yield ParameterSpec(held.name(scenario.renames), held.path, role, value)


def _specs(request: NetRequest) -> Iterator[ParameterSpec]:
    for name, value in request.parameters.items():
        # A function declares nothing: an integer cannot be trained, of a number it is assumed.
        role: Role = "trained" if value.dtype.startswith(("float", "bfloat")) else "buffer"
        yield ParameterSpec(name, name, role, value)


def named(
    net: Net,
    case: GradCase,
    returned: Tree,
    outputs: dict[str, Any],
    gradients: Iterable[Any],
) -> tuple[Tree, tuple[Leaf, ...]]:
    """MindSpore's structure of a case, and its leaves in that order.

    ``returned`` has the names of the outputs as the net nests them; ``outputs`` are those that the
    case returns, by name.
    """
    tree = structure(case, tuple(net.inputs), net.weights(case), returned)
    values = {**outputs, **dict(zip(net.leaves(case), gradients, strict=True))}
    return tree, tuple(Leaf(name, packed(values[name])) for name in names_in(tree))
