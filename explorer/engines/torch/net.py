"""Scenario nets in PyTorch, built afresh for each case, and the state that a forward changes."""

import pickle
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from explorer.engines.double_net import LeafKey
from explorer.engines.failures import refuse_keyword_only
from explorer.engines.torch.dropout import RefusedDraws, fix_dropout
from explorer.engines.torch.errors import failure
from explorer.engines.torch.functional_dropout import forget_rates, give_masks, rates
from explorer.engines.torch.tensors import changed, dtype_name, dtype_of, packed
from explorer.engines.torch.versions import offered
from explorer.model.arrays import AnyArray, unpack
from explorer.model.cases import GradCase
from explorer.model.errors import OddOutputError, RefusedNetError
from explorer.model.requests import Description, NetRequest, OutputSpec, ParameterSpec, Role
from explorer.model.results import Leaf
from explorer.model.state import StateChange
from explorer.model.trees import Tree, leaves, left_out, names_in, tree_of
from explorer.numeric.cotangents import cotangent
from explorer.numeric.random_arrays import jittered_arrays, jittered_records
from explorer.scenario.declaration import Declaration
from explorer.scenario.load import load, make_net
from explorer.scenario.matrix import structure

SEED = 0

# With several threads sums change by 1e-6 with their number (torch 2.13).
torch.set_num_threads(1)

# float32 is to mean float32 on every device: TF32 keeps 10 bits of the mantissa.
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.deterministic = True


@dataclass(frozen=True)
class Net:
    """One net ready to be called, with its input tensors, parameters and buffers by name.

    ``call`` is a Module or a function; ``state`` holds parameters and buffers, ``constants`` plain
    tensors that are attributes. ``trainable`` are the names of the parameters that "all weights"
    stands for, in that order. ``masked`` are the dropout layers whose masks
    are given, and ``seed`` is that of the random numbers of a forward.
    """

    scenario: Declaration
    call: Any
    inputs: dict[str, torch.Tensor]
    state: dict[str, torch.Tensor]
    trainable: tuple[str, ...]
    constants: dict[str, torch.Tensor] = field(default_factory=dict)
    masked: dict[str, float] = field(default_factory=dict)
    seed: int = SEED

    @property
    def arguments(self) -> tuple[torch.Tensor, ...]:
        """The input tensors in positional order."""
        return tuple(self.inputs.values())

    def leaf_keys(self, case: GradCase) -> list[LeafKey]:
        """The leaves that a case differentiates: inputs by position, then weights by name."""
        return [*case.positions, *case.weight_names(self.trainable)]

    def leaves(self, case: GradCase) -> dict[str, torch.Tensor]:
        """The tensors that a case differentiates, by the names of their gradients: "dx"."""
        names = list(self.inputs)
        leaves = {f"d{names[index]}": self.inputs[names[index]] for index in case.positions}
        for name in case.weight_names(self.trainable):
            leaves[f"d{name}"] = self.state[name]
        return leaves


def build(request: NetRequest, dtype: torch.dtype | None = None) -> Net:
    """A fresh net on the device of a request, started from the request's parameters.

    Where ``dtype`` is given, all that is floating is converted to it.
    """
    leave_transforms()
    scenario = load(request.scenario)
    start_random_numbers(SEED)
    shares_dropout = scenario.shares_dropout and not request.has_own_draws
    give_masks(shares_dropout)
    call = make_net(scenario, "torch")
    if scenario.checkpoint and scenario.checkpoint.framework == "torch":
        load_checkpoint(call, Path(scenario.checkpoint.file))
    state: dict[str, torch.Tensor] = {}
    constants: dict[str, torch.Tensor] = {}
    masked: dict[str, float] = {}
    if isinstance(call, torch.nn.Module):
        call.train(scenario.train).to(request.device)
        if dtype is not None:
            # Module.to(torch.float64) drops the imaginary parts of complex tensors (2.13).
            call._apply(partial(_in_precision, dtype))
        if shares_dropout:
            masked = fix_dropout(call, scenario, request.device)
            forget_rates()  # of the layers that are replaced now
        state = {**dict(call.named_parameters()), **dict(call.named_buffers())}
        constants = dict(_plain_tensors(call))
    held = {**constants, **state}
    with torch.no_grad():
        for name, start in jittered_records(request.parameters, request.jitter).items():
            if name in held:
                held[name].copy_(tensor(unpack(start), request.device))
    # A first look at a net names no trainable parameters: then they are what the net declares.
    declared = tuple(name for name, value in state.items() if value.requires_grad)
    inputs = tensors(jittered_arrays(scenario.inputs(), request.jitter), request.device, dtype)
    seed = SEED + request.draw
    trainable = request.trainable or declared
    return Net(scenario, call, inputs, state, trainable, constants, masked, seed)


def _in_precision(dtype: torch.dtype, tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of floats in ``dtype``, a complex one with parts of it; any other as it is."""
    if tensor.is_complex():
        return tensor.to(dtype.to_complex())
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def load_checkpoint(net: Any, file: Path) -> None:
    """Start a net from a file of tensors; raises UsageError for one that could run code."""
    try:
        state = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise RefusedNetError("unsafe_weights", file.name) from error
    net.load_state_dict(state)


def leave_transforms() -> None:
    """Leave the levels of torch.func in which a call that raised has left this process.

    Dynamo does so where it cannot trace a nested gradient: all later calls would fail (torch 2.13).
    """
    offered("leave_levels")()
    # torch.func forbids them in its transforms; checkpointing needs them, and so does whoever
    # watches what a tape saves. A compilation that failed may leave this behind alone.
    if not torch._C._autograd._saved_tensors_hooks_is_enabled():
        torch._C._autograd._saved_tensors_hooks_enable()


def _plain_tensors(net: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors that are attributes of a module and neither parameters nor buffers, by path."""
    for path, module in net.named_modules():
        for attribute, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                yield f"{path}.{attribute}".lstrip("."), value


def tensor(array: AnyArray, device: str) -> torch.Tensor:
    """A tensor with its own copy of an array."""
    return torch.from_numpy(array.copy()).to(device)


def tensors(
    arrays: dict[str, AnyArray], device: str, dtype: torch.dtype | None = None
) -> dict[str, torch.Tensor]:
    """Tensors of numpy arrays; one array under two names becomes one tensor under two names."""
    by_array: dict[int, torch.Tensor] = {}
    for array in arrays.values():
        value = tensor(array, device)
        if dtype is not None and value.is_floating_point():
            value = value.to(dtype)
        by_array[id(array)] = value
    return {name: by_array[id(array)] for name, array in arrays.items()}


def start_random_numbers(seed: int) -> None:
    """Have every device draw the random numbers of a seed, as torch.manual_seed() has it."""
    # That one also queues a call, with its stack, for each kind of device that is not there: a
    # third of a millisecond (2.13).
    if _has_accelerator():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


@cache
def _has_accelerator() -> bool:
    return bool(offered("accelerator")())


def forward(net: Net) -> Any:
    """The return value of the net, computed with the same random numbers every time."""
    start_random_numbers(net.seed)
    return net.call(*net.arguments)


def flat(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a nested output from left to right; plain numbers become tensors.

    Raises TypeError for anything else.
    """
    for leaf in leaves(value):
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif isinstance(leaf, float):
            yield torch.tensor(leaf, dtype=torch.float64)  # a Python number has no other precision
        elif isinstance(leaf, (int, complex)):
            yield torch.tensor(leaf)
        else:
            raise OddOutputError(leaf)


def returned_tree(net: Net, outputs: Any) -> Tree:
    """The names of a net's outputs, nested as it returned them."""
    return tree_of(outputs, net.scenario.outputs(len(list(flat(outputs)))))


def bare(outputs: Any) -> bool:
    """Whether a net returned no tuple of two or more, so that it has no auxiliary outputs."""
    return not (isinstance(outputs, tuple) and len(outputs) > 1)


def seeds(case: GradCase, roots: dict[int, torch.Tensor]) -> list[torch.Tensor]:
    """The cotangents of the outputs to differentiate, which are keyed by their position."""
    cotangents = []
    for index, root in roots.items():
        cotangents.append(seed(case, index, tuple(root.shape), root.dtype, root.device))
    return cotangents


def seed(
    case: GradCase, index: int, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """The cotangent of output ``index``: ones, or what ``sens_param`` brings."""
    if not case.sens_param:
        return torch.ones(shape, dtype=dtype, device=device)
    array = cotangent(index, shape, dtype_name(dtype))
    return torch.from_numpy(array).to(device, dtype)


def describe(request: NetRequest) -> Description:
    """The net's parameters as it declares them, and its outputs or why its forward failed."""
    parameters: tuple[ParameterSpec, ...] = ()
    constants: tuple[ParameterSpec, ...] = ()
    try:
        net = build(request)
        parameters, constants = _specs(net, net.state), _specs(net, net.constants)
        refuse_keyword_only(getattr(net.call, "forward", net.call))
        with RefusedDraws() if net.scenario.same_dropout else nullcontext():
            outputs = _outputs_at_first_look(request, net)
        specs = [OutputSpec(tuple(output.shape), dtype_of(output)) for output in flat(outputs)]
        returned = returned_tree(net, outputs)
    except Exception as error:
        return Description(parameters, constants, error=failure(error, request.scenario))
    masked = {**net.masked, **rates()}
    omitted = left_out(outputs)
    return Description(parameters, constants, tuple(specs), returned, masked, omitted=omitted)


def _outputs_at_first_look(request: NetRequest, net: Net) -> Any:
    """What the net returns, for inputs that require gradients where it cannot do without.

    A net that calls ``torch.autograd.grad`` in its forward may count on that.
    """
    try:
        return forward(net)
    except RuntimeError as error:
        net = build(request)
        require_gradients(net.arguments)
        try:
            return forward(net)
        except RuntimeError:
            raise error from None


def require_gradients(tensors: Iterable[torch.Tensor]) -> None:
    """Let those of some leaves require gradients that can."""
    for value in tensors:
        if value.is_floating_point() or value.is_complex():
            value.requires_grad_()


def _specs(net: Net, tensors: dict[str, torch.Tensor]) -> tuple[ParameterSpec, ...]:
    specs = []
    for name, value in tensors.items():
        specs.append(ParameterSpec(name, name, _role(net, name, value), packed(value)))
    return tuple(specs)


def _role(net: Net, name: str, value: torch.Tensor) -> Role:
    if name in net.constants:
        return "constant"
    if not isinstance(value, torch.nn.Parameter):
        return "buffer"
    return "trained" if value.requires_grad else "frozen"


def changeable(net: Net) -> dict[str, torch.Tensor]:
    """The buffers and frozen parameters of a net, which a forward may change.

    Counters are integers and left out.
    """
    floating = {name: value for name, value in net.state.items() if value.is_floating_point()}
    for name in net.trainable:
        floating.pop(name, None)
    return floating


def start_of_state(net: Net) -> dict[str, torch.Tensor]:
    """Copies of everything that a net holds and does not train, counters too."""
    tensors = {**net.state, **net.constants}
    return {
        name: value.detach().clone() for name, value in tensors.items() if name not in net.trainable
    }


def changed_state(
    before: dict[str, torch.Tensor], after: Mapping[str, torch.Tensor]
) -> tuple[StateChange, ...]:
    """The tensors of ``before`` that ``after`` has with other values."""
    changes = []
    for name, value in before.items():
        now = after.get(name)
        if now is not None and changed(value, now):
            changes.append(StateChange(name, packed(value), packed(now.detach())))
    return tuple(changes)


def state_now(net: Net) -> dict[str, torch.Tensor]:
    """What a net holds by now: a forward may have put other tensors in the place of its buffers."""
    now = {**net.state, **net.constants}
    if isinstance(net.call, torch.nn.Module):
        now.update(net.call.named_buffers())
    return now


def snapshot(net: Net) -> dict[str, torch.Tensor]:
    """Copies of the tensors of a net that a forward may change."""
    return {name: value.detach().clone() for name, value in changeable(net).items()}


def moved(net: Net, before: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a snapshot that hold other values by now, as the net has them."""
    now = state_now(net)
    tensors = {}
    for name, value in before.items():
        if changed(value, now[name]):
            tensors[name] = now[name]
    return tensors


def named(
    net: Net,
    case: GradCase,
    returned: Tree,
    outputs: list[torch.Tensor],
    gradients: list[torch.Tensor],
) -> tuple[Tree, tuple[Leaf, ...]]:
    """MindSpore's structure of a case, and its leaves in that order.

    ``returned`` has the names of the outputs as the net nests them.
    """
    tree = structure(case, tuple(net.inputs), case.weight_names(net.trainable), returned)
    values = dict(zip(names_in(returned), outputs, strict=True))
    values.update(zip(net.leaves(case), gradients, strict=True))
    return tree, tuple(Leaf(name, packed(values[name])) for name in names_in(tree))


def refuse_missing_auxiliary(case: GradCase, returned: Any) -> None:
    """Raise what ``torch.func`` raises for a net without auxiliary outputs.

    That is a net that ``returned`` no tuple of two or more, where the case splits off auxiliary
    outputs.
    """
    if case.has_aux and bare(returned):
        # The net itself is not run for it: it might raise before, for a reason of its own.
        torch.func.grad(lambda _: returned, has_aux=True)(torch.zeros(()))
