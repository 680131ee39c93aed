"""PyTorch's side of a setting, in float64; a program of its own."""

from typing import Any

import torch

from tests.operators.answers import Answer, cotangents, flat, weight, work
from tests.operators.settings import Call


def answer(call: Call) -> Answer:
    """Run a call and differentiate the sum of its results times random factors."""
    torch.manual_seed(call.seed)
    tensors = {name: _tensors(call, name) for name in call.operands}
    given: dict[str, Any] = {}
    for name, parts in tensors.items():
        given[name] = tuple(parts) if name in call.lists else parts[0]
    if call.pads_first:
        first = next(iter(given))
        given[first] = torch.nn.functional.pad(given[first], call.pads_first, value=call.fill)

    function: Any = torch
    path = call.callable.replace("aten.", "torch.ops.aten.")
    for part in path.split(".")[1:]:
        function = getattr(function, part)
    module = _module(function, call) if call.is_layer else None
    outputs = flat(module(*given.values()) if module else _called(function, call, given))

    weights = dict(module.named_parameters()) if module else {}
    differentiated = {name: parts for name, parts in tensors.items() if parts[0].requires_grad}
    named, of_weights = _gradients(call, outputs, differentiated, weights)
    after = _state_of(module) if module else _running(tensors)
    values = [output.detach().numpy() for output in outputs]
    return Answer(values, named, of_weights, after)


def _tensors(call: Call, name: str) -> list[torch.Tensor]:
    tensors = [torch.from_numpy(array) for array in call.operands[name]]
    if not tensors[0].is_floating_point():
        return tensors
    is_source = name not in call.constants
    return [tensor.double().requires_grad_(is_source) for tensor in tensors]


def _module(kind: Any, call: Call) -> torch.nn.Module:
    """A layer with the numbers that MindSpore's has too."""
    module: torch.nn.Module = kind(**call.arguments).double()
    module.train(call.mode == "train")
    for name, held in module.state_dict().items():
        if held.is_floating_point():
            held.copy_(torch.from_numpy(weight(name, tuple(held.shape), call.seed)))
    return module


def _called(function: Any, call: Call, given: dict[str, Any]) -> Any:
    # The first operand has several names: what the documentation has is not what C takes.
    first, *others = given
    named = {name: given[name] for name in others}
    results = function(given[first], **named, **call.arguments)
    if call.callable.startswith("aten.") and not isinstance(results, torch.Tensor):
        return results[0]  # what else an operator returns is for its gradient
    return results


def _state_of(module: torch.nn.Module) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for name, held in module.state_dict().items():
        if held.is_floating_point():
            state[name] = held.detach().clone().numpy()
    return state


def _running(tensors: dict[str, list[torch.Tensor]]) -> dict[str, Any]:
    return {name: parts[0].numpy() for name, parts in tensors.items() if name.startswith("running")}


def _gradients(
    call: Call,
    outputs: list[torch.Tensor],
    operands: dict[str, list[torch.Tensor]],
    weights: dict[str, torch.Tensor],
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The gradients of operands and of weights."""
    sources = [part for parts in operands.values() for part in parts]
    sources += weights.values()
    if call.compared != "gradients" or not sources:
        return {}, {}
    summed = [output for output in outputs if output.is_floating_point()]
    factors = cotangents([tuple(output.shape) for output in summed], call.seed)
    whole = torch.zeros((), dtype=torch.float64)
    for output, factor in zip(summed, factors, strict=True):
        whole = whole + (output * torch.from_numpy(factor)).sum()
    found = torch.autograd.grad(whole, sources, materialize_grads=True)
    arrays = [gradient.numpy() for gradient in found]
    named: dict[str, list[Any]] = {}
    for name, parts in operands.items():
        named[name] = [arrays.pop(0) for _part in parts]
    return named, dict(zip(weights, arrays, strict=True))


if __name__ == "__main__":
    torch.set_num_threads(1)
    work(answer)
