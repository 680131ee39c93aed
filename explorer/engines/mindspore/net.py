"""Scenario nets in MindSpore, built afresh for each case and started from given values."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import mindspore as ms
import msgspec
import numpy as np
from mindspore.common.api import _pynative_executor

from explorer.engines.failures import refuse_keyword_only
from explorer.engines.mindspore.code import MODE_NAMES, SEED
from explorer.engines.mindspore.dropout import RefusedDraws, fix_dropout, give_masks, rates
from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.layers import constructions_noted, layers_of
from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.errors import OddOutputError, RefusedNetError
from explorer.model.graph import Layer
from explorer.model.requests import Description, NetRequest, OutputSpec, ParameterSpec, Role
from explorer.model.trees import Branch, Tree, fill, leaves, left_out, names_in, tree_of
from explorer.numeric.cotangents import cotangent
from explorer.numeric.random_arrays import jittered_arrays, jittered_records
from explorer.scenario.declaration import Declaration
from explorer.scenario.layouts import (
    HOME,
    KnownCell,
    Layout,
    Step,
    known_cell,
    layout_of,
    to_mindspore,
    to_torch,
    torch_name,
)
from explorer.scenario.load import load, make_net

INITIAL_TABLE = "init_tensor"
"""The attribute in which nn.Embedding keeps what its table began with, and never uses (2.10.0)."""


@dataclass(frozen=True)
class HeldTensor:
    """A tensor that a Cell holds under an attribute, and how PyTorch's net names and lays it out.

    ``path`` is its place in the Cell tree ("norm.gamma"), ``own_name`` what a Parameter itself is
    called. ``tensor`` is the one that the net began with.
    """

    name: str
    path: str
    own_name: str
    role: Role
    layout: Layout
    tensor: Any
    owner: Any

    def now(self) -> Any:
        """The tensor that the Cell holds by now: a forward may have put another one in its place."""
        return getattr(self.owner, self.path.rpartition(".")[2], self.tensor)

    def start_from(self, start: Array) -> None:
        """Overwrite its values with those of ``start``, which is laid out as in PyTorch."""
        values = to_mindspore(unpack(start), self.layout, tuple(self.tensor.shape))
        given = ms.Tensor(values).astype(self.tensor.dtype)
        if isinstance(self.tensor, ms.Parameter):
            self.tensor.set_data(given)
        else:
            # The compiler takes a plain tensor for a constant: there has to be another one.
            setattr(self.owner, self.path.rpartition(".")[2], given)


def held_by(cell: Any, scenario: Declaration, request: NetRequest) -> dict[str, HeldTensor]:
    """Everything that a Cell and those in it hold, parameters first, by PyTorch's names.

    ``request.names`` come before the names that the scenario and the known Cells give, and
    ``request.shapes`` behind their layouts.
    """
    renames, layouts = scenario.renames, scenario.layouts
    return held_in(cell, renames, layouts, request.names, request.shapes)


def held_in(
    cell: Any,
    renames: Mapping[str, str] = MappingProxyType({}),
    layouts: Mapping[str, Layout] = MappingProxyType({}),
    names: Mapping[str, str] = MappingProxyType({}),
    shapes: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
) -> dict[str, HeldTensor]:
    """Everything that a Cell holds, as held_by() has it; the known Cells alone name it by default."""
    owners = dict(cell.cells_and_names())
    known = _known(owners)
    tensors = list(_tensors(cell, owners))
    paths = {path for path, _, _ in tensors}
    held: dict[str, HeldTensor] = {}
    for path, role, tensor in tensors:
        own_name = getattr(tensor, "name", "") if isinstance(tensor, ms.Parameter) else ""
        if own_name in paths:
            own_name = path  # the path of another one says more than a name that is the same
        name = names.get(path) or torch_name(path, own_name, known, renames)
        layout = layout_of(path, name, known, layouts)
        layout += _shaped(shapes.get(path))
        owner = owners[path.rpartition(".")[0]]
        held.setdefault(name, HeldTensor(name, path, own_name, role, layout, tensor, owner))
    return held


def _shaped(shape: tuple[int, ...] | None) -> Layout:
    return () if shape is None else (Step("reshape", shape),)


def _known(owners: dict[str, Any]) -> dict[str, KnownCell]:
    """The Cells whose parameters are unlike those of PyTorch's modules, by path."""
    known = {}
    for path, owner in owners.items():
        classes = type(owner).__mro__
        names = tuple(cls.__name__ for cls in classes if cls.__module__.startswith(HOME))
        entry = known_cell(names)
        if entry:
            known[path] = entry
    return known


def _tensors(cell: Any, owners: dict[str, Any]) -> Iterator[tuple[str, Role, Any]]:
    """The path, the role and the tensor of all that is held: parameters, buffers, plain tensors."""
    for path, parameter in cell.parameters_and_names():
        yield path, "trained" if parameter.requires_grad else "frozen", parameter
    for path, buffer in cell.named_buffers():
        yield path, "buffer", buffer
    for path, owner in owners.items():
        for attribute, value in vars(owner).items():
            is_plain = isinstance(value, ms.Tensor) and not isinstance(value, ms.Parameter)
            if is_plain and not attribute.startswith("_") and attribute != INITIAL_TABLE:
                yield f"{path}.{attribute}".lstrip("."), "constant", value


TARGETS = {"cpu": "CPU", "npu": "Ascend"}
"""What MindSpore calls the devices."""


@dataclass(frozen=True)
class Net:
    """One net ready to be called.

    ``call`` is its Cell or function. ``inputs`` are its input tensors by name, and ``parameters``
    are named as in PyTorch. ``trainable`` are the names of the parameters that "all weights" stands
    for, in that order. ``held`` says of all that the net holds what it is and how it is laid out.
    ``returned`` has the names of its outputs as it nests them, None before a first look at it.
    ``masked`` are the dropout layers whose masks are given: the share that each drops, by its path.
    ``layers`` are those of MindSpore that it is made of, by path.
    """

    scenario: Declaration
    call: Any
    inputs: dict[str, Any]
    parameters: dict[str, Any]
    trainable: tuple[str, ...]
    held: dict[str, HeldTensor] = field(default_factory=dict)
    returned: Tree = None
    masked: dict[str, float] = field(default_factory=dict)
    layers: dict[str, Layer] = field(default_factory=dict)

    @property
    def first_outputs(self) -> int:
        """The number of tensors in the first entry that the net returns: what has_aux leaves in."""
        if isinstance(self.returned, Branch):
            return len(names_in(self.returned.parts[0]))
        return 1

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The input tensors in positional order."""
        return tuple(self.inputs.values())

    @property
    def weights(self) -> list[Any]:
        """The trainable parameters, in the order of ``trainable``."""
        return [self.parameters[name] for name in self.trainable]

    def gradient(self, name: str, value: Any) -> Array:
        """The record of a tensor called ``name``; one of a weight ("dfc.weight") as in PyTorch."""
        held = self.held.get(name.removeprefix("d"))
        if held is None or name == held.name:
            return packed(value)
        return pack(to_torch(array_of(value), held.layout), dtype_of(value))


def build(request: NetRequest) -> Net:
    """A fresh net in the mode of ``request.engine``, on its device, started from its parameters."""
    use_device(request.device)
    # A tape call that raised leaves its tape on: later compilations would nest, and ``tensor[0]``
    # would fail (2.10.0).
    _pynative_executor.clear_res()
    scenario = load(request.scenario)
    ms.set_context(mode=getattr(ms, MODE_NAMES[request.engine]))
    # Operators take their seeds when they are made, and the net's own start is drawn by then.
    start: dict[str, Array] = {}
    if request.draw:
        start = _own_start(request)
    ms.set_seed(SEED + request.draw)
    shares_dropout = scenario.shares_dropout and not request.has_own_draws
    give_masks(shares_dropout)
    with constructions_noted() as made:
        call = make_net(scenario, "mindspore")
    layers = layers_of(call, made)
    if scenario.checkpoint and scenario.checkpoint.framework == "mindspore":
        ms.load_param_into_net(call, ms.load_checkpoint(scenario.checkpoint.file))
    held: dict[str, HeldTensor] = {}
    masked: dict[str, float] = {}
    if isinstance(call, ms.nn.Cell):
        call.set_train(scenario.train)
        if shares_dropout:
            masked = fix_dropout(call)
        held = held_by(call, scenario, request)
    start.update(jittered_records(request.parameters, request.jitter))
    for name, values in start.items():
        if name in held:
            held[name].start_from(values)
    parameters = _parameters(held)
    # A first look at a net names no trainable parameters: then they are what the net declares.
    declared = tuple(name for name, value in parameters.items() if value.requires_grad)
    inputs = tensors(jittered_arrays(scenario.inputs(), request.jitter))
    trainable = request.trainable or declared
    return Net(
        scenario, call, inputs, parameters, trainable, held, request.returned, masked, layers
    )


def _own_start(request: NetRequest) -> dict[str, Array]:
    """What the net that draws as usual holds at its start, by PyTorch's names."""
    usual = build(msgspec.structs.replace(request, draw=0))
    start = {}
    for name, held in usual.held.items():
        start[name] = pack(to_torch(array_of(held.tensor), held.layout), dtype_of(held.tensor))
    return start


def _parameters(held: dict[str, HeldTensor]) -> dict[str, Any]:
    """The parameters among what a Cell holds, by PyTorch's names."""
    parameters = {}
    for name, entry in held.items():
        if isinstance(entry.tensor, ms.Parameter):
            parameters[name] = entry.tensor
    return parameters


@lru_cache(maxsize=1)
def use_device(device: str) -> None:
    """Choose the process's device once; MindSpore 2.10 cannot move to another one afterwards.

    Raises UsageError for a device that MindSpore does not know.
    """
    kind, _, number = device.partition(":")
    if kind not in TARGETS:
        raise RefusedNetError("unknown_device", device, ", ".join(TARGETS))
    ms.set_device(TARGETS[kind], int(number or 0))


def tensors(arrays: dict[str, AnyArray]) -> dict[str, Any]:
    """MindSpore tensors of numpy arrays by name; an array under two names becomes one tensor."""
    # Aliasing matters: a tape adds up the gradients of one tensor under two names.
    by_array = {id(array): ms.Tensor(array) for array in arrays.values()}
    return {name: by_array[id(array)] for name, array in arrays.items()}


def array_of(value: Any) -> AnyArray:
    """The numpy array of a tensor or number; bfloat16 as float32."""
    if not isinstance(value, ms.Tensor):
        return np.asarray(value)
    if value.dtype == ms.bfloat16:
        value = value.astype(ms.float32)
    array: AnyArray = value.asnumpy()
    return array


def tensor_like(array: AnyArray, dtype: Any) -> Any:
    """A new tensor of a dtype of MindSpore's, on no tape and contiguous."""
    tensor = ms.Tensor(np.array(array))
    if tensor.dtype == dtype:
        return tensor
    return tensor.astype(dtype)


def own_copy(tensor: Any) -> Any:
    """A copy of a tensor, on no tape and contiguous."""
    return tensor_like(array_of(tensor), tensor.dtype)


def dtype_of(value: Any) -> str:
    """The dtype name of a tensor or number: "float32", "bfloat16"."""
    if isinstance(value, ms.Tensor):
        return str(value.dtype).lower()
    return np.asarray(value).dtype.name


def packed(value: Any) -> Array:
    """The record of a tensor or number."""
    return pack(array_of(value), dtype_of(value))


def flat(value: Any) -> Iterator[Any]:
    """The tensors and numbers of a nested output from left to right; TypeError for anything else."""
    for leaf in leaves(value):
        if not isinstance(leaf, (ms.Tensor, int, float, complex)):
            raise OddOutputError(leaf)
        yield leaf


def forward(net: Net) -> Any:
    """What the net returns, computed in the mode it was built for."""
    in_graph = ms.get_context("mode") == ms.GRAPH_MODE
    if in_graph and not isinstance(net.call, ms.nn.Cell):
        # GRAPH_MODE compiles Cells; a plain function is compiled only inside ``ms.jit`` (2.10.0).
        return ms.jit(net.call)(*net.arguments)
    return net.call(*net.arguments)


def sensitivities(request: NetRequest) -> Any:
    """The cotangents for ``sens_param``, nested as the net nests what it returns.

    A net of its own is run for the shapes: running the one that is differentiated would move its
    running statistics and its seed. It runs on the tape, which compiles nothing.
    """
    outputs = forward(build(msgspec.structs.replace(request, engine="mindspore-tape")))
    cotangents: list[Any] = []
    for index, output in enumerate(flat(outputs)):
        if isinstance(output, ms.Tensor):
            array = cotangent(index, tuple(output.shape), dtype_of(output))
            cotangents.append(ms.Tensor(array).astype(output.dtype))
        else:
            cotangents.append(output)  # a plain number takes any number for its cotangent
    names = list(map(str, range(len(cotangents))))
    return fill(tree_of(outputs, names), tuple(cotangents))


# The description of a net


def describe(request: NetRequest) -> Description:
    """The net's parameters as it declares them, and its outputs or why its forward failed."""
    parameters: tuple[ParameterSpec, ...] = ()
    constants: tuple[ParameterSpec, ...] = ()
    try:
        net = build(request)
        parameters, constants = _specs(net, True), _specs(net, False)
        refuse_keyword_only(net.call.construct if isinstance(net.call, ms.nn.Cell) else net.call)
        with RefusedDraws() if net.scenario.same_dropout else nullcontext():
            outputs = forward(net)
        specs = [OutputSpec(array_of(output).shape, dtype_of(output)) for output in flat(outputs)]
        returned = tree_of(outputs, net.scenario.outputs(len(specs)))
    except Exception as error:
        return Description(parameters, constants, error=failure(error, request.scenario))
    masked = {**net.masked, **rates()}
    omitted = left_out(outputs)
    return Description(parameters, constants, tuple(specs), returned, masked, omitted=omitted)


def _specs(net: Net, are_parameters: bool) -> tuple[ParameterSpec, ...]:
    """What the net holds: its parameters, or all the rest."""
    specs = []
    for name, held in net.held.items():
        if isinstance(held.tensor, ms.Parameter) == are_parameters:
            array = to_torch(array_of(held.tensor), held.layout)
            value = pack(array, dtype_of(held.tensor))
            specs.append(ParameterSpec(name, held.path, held.role, value, held.own_name))
    return tuple(specs)
