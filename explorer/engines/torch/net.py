"""Scenario nets in PyTorch: built afresh for one question, started from given values, described by
their first forward.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch

from explorer.engines.torch.errors import failure
from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.requests import Description, NetRequest, OutputSpec, ParameterSpec
from explorer.model.results import Leaf
from explorer.model.trees import Tree, names_in
from explorer.numeric.cotangents import cotangent
from explorer.scenario.contract import Scenario, load
from explorer.scenario.matrix import structure

SEED = 0

torch.set_num_threads(1)
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False  # float32 is to mean float32 on every device
torch.backends.cudnn.deterministic = True


@dataclass(frozen=True)
class Net:
    """One net ready to be called: its Module or function, its input tensors, its parameters and
    buffers, all by name.
    """

    scenario: Scenario
    call: Any
    inputs: dict[str, torch.Tensor]
    state: dict[str, torch.Tensor]
    trainable: tuple[str, ...]

    @property
    def arguments(self) -> tuple[torch.Tensor, ...]:
        """The input tensors in positional order."""
        return tuple(self.inputs.values())

    def leaves(self, case: GradCase) -> dict[str, torch.Tensor]:
        """The tensors that a case differentiates, by the names of their gradients."""
        weights = {"all": self.trainable, "one": self.trainable[:1], None: ()}[case.weights]
        names = list(self.inputs)
        asked = {f"d{names[index]}": self.inputs[names[index]] for index in case.positions}
        return asked | {f"d{name}": self.state[name] for name in weights}


def build(request: NetRequest, dtype: torch.dtype | None = None) -> Net:
    """A fresh net on the device of a request, started from its parameters; ``dtype`` converts all
    that is floating.
    """
    torch.manual_seed(SEED)
    scenario = load(request.scenario)
    assert scenario.torch_net is not None
    call = scenario.torch_net()
    state: dict[str, torch.Tensor] = {}
    if isinstance(call, torch.nn.Module):
        call.train(scenario.train).to(request.device, dtype)
        state = {**dict(call.named_parameters()), **dict(call.named_buffers())}
    with torch.no_grad():
        for name, start in request.parameters.items():
            if name in state:
                state[name].copy_(tensor(unpack(start), request.device))
    trainable = request.trainable or tuple(
        name for name, value in state.items() if value.requires_grad
    )
    return Net(scenario, call, tensors(scenario.inputs(), request.device, dtype), state, trainable)


def identity(request: NetRequest) -> bytes:
    """A digest of all that makes a net what it is: the scenario's text, the device, and the
    starting values.
    """
    digest = hashlib.sha256(Path(request.scenario).read_bytes())
    digest.update(msgspec.msgpack.encode((request.scenario, request.device, request.parameters)))
    return digest.digest()


def tensor(array: AnyArray, device: str) -> torch.Tensor:
    """A tensor with its own copy of an array."""
    return torch.from_numpy(array.copy()).to(device)


def tensors(
    arrays: dict[str, AnyArray], device: str, dtype: torch.dtype | None = None
) -> dict[str, torch.Tensor]:
    """Tensors of numpy arrays; one array under two names becomes one tensor under two names."""
    made = {id(array): tensor(array, device) for array in arrays.values()}
    if dtype:
        made = {
            key: value.to(dtype) if value.is_floating_point() else value
            for key, value in made.items()
        }
    return {name: made[id(array)] for name, array in arrays.items()}


def forward(net: Net) -> Any:
    """What the net returns, from the same random numbers every time."""
    torch.manual_seed(SEED)
    return net.call(*net.arguments)


def flat(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a nested output from left to right; plain numbers become tensors."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from flat(item)
    elif isinstance(value, dict):
        yield from flat(list(value.values()))
    elif value is not None:
        yield value if isinstance(value, torch.Tensor) else torch.as_tensor(value)


def seeds(case: GradCase, roots: dict[int, torch.Tensor]) -> list[torch.Tensor]:
    """The cotangents of the outputs to differentiate, which are keyed by their position."""
    return [
        seed(case, index, tuple(root.shape), root.dtype, root.device)
        for index, root in roots.items()
    ]


def seed(
    case: GradCase, index: int, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """The cotangent of output ``index``: ones, or what ``sens_param`` brings."""
    if not case.sens_param:
        return torch.ones(shape, dtype=dtype, device=device)
    return torch.from_numpy(cotangent(index, shape, str(dtype).removeprefix("torch."))).to(
        device, dtype
    )


def array_of(value: torch.Tensor) -> AnyArray:
    """The numpy array of a tensor on any device; bfloat16 as float32."""
    plain = value.detach().cpu()
    array: AnyArray = (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy()
    return array


def dtype_of(value: torch.Tensor) -> str:
    """The dtype name of a tensor: "float32", "bfloat16"."""
    return str(value.dtype).removeprefix("torch.")


def packed(value: torch.Tensor) -> Array:
    """The record of a tensor."""
    return pack(array_of(value), dtype_of(value))


def named(
    net: Net, case: GradCase, outputs: list[torch.Tensor], gradients: list[torch.Tensor]
) -> tuple[Tree, tuple[Leaf, ...]]:
    """MindSpore's structure of a case, and its leaves in that order."""
    names = net.scenario.outputs(len(outputs))
    weights = net.trainable if case.weights == "all" else net.trainable[:1]
    tree: Tree = structure(case, tuple(net.inputs), weights, names)
    values = dict(zip(names, outputs, strict=True)) | dict(
        zip(net.leaves(case), gradients, strict=True)
    )
    return tree, tuple(Leaf(name, packed(values[name])) for name in names_in(tree))


def describe(request: NetRequest) -> Description:
    """The net's parameters as it declares them, and its outputs or why its forward failed."""
    parameters: tuple[ParameterSpec, ...] = ()
    try:
        net = build(request)
        parameters = tuple(
            ParameterSpec(name, name, value.requires_grad, packed(value))
            for name, value in net.state.items()
        )
        with torch.no_grad():
            outputs = forward(net)
        specs = tuple(OutputSpec(tuple(output.shape), dtype_of(output)) for output in flat(outputs))
    except Exception as error:
        return Description(parameters, error=failure(error, request.scenario))
    return Description(parameters, specs, not isinstance(outputs, (tuple, list)))


def bare(outputs: Any) -> bool:
    """Whether a net returned one tensor as such, so that it has no auxiliary outputs."""
    return isinstance(outputs, torch.Tensor)


def refuse_auxiliary(output: torch.Tensor) -> None:
    """Raises what ``torch.func`` raises where a case splits off auxiliary outputs that the net,
    returning ``output``, has not.

    The net itself is not run for it: what it does might raise before, for a reason of its own.
    """
    torch.func.grad(lambda _: output, has_aux=True)(torch.zeros(()))
