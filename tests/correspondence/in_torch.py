"""PyTorch's side of a setting, in float64; a program of its own."""

from typing import Any

import torch

from tests.correspondence.answers import Answer, cotangents, weight, work
from tests.correspondence.settings import Call


def answer(call: Call) -> Answer:
    """Run a call and differentiate the sum of its results times random factors."""
    torch.manual_seed(call.seed)
    tensors: dict[str, list[torch.Tensor]] = {}
    floating: list[torch.Tensor] = []
    for name, arrays in call.operands.items():
        tensors[name] = [torch.from_numpy(array) for array in arrays]
        if tensors[name][0].is_floating_point():
            tensors[name] = [tensor.double() for tensor in tensors[name]]
            if name not in call.constants:
                tensors[name] = [tensor.requires_grad_() for tensor in tensors[name]]
                floating += tensors[name]
    given: dict[str, Any] = {}
    for name, parts in tensors.items():
        given[name] = tuple(parts) if name in call.lists else parts[0]
    if call.pads_first:
        fill = float("-inf") if "MaxPool" in call.callable else 0.0
        first = next(iter(given))
        given[first] = torch.nn.functional.pad(given[first], call.pads_first, value=fill)

    function: Any = torch
    for part in call.callable.split(".")[1:]:
        function = getattr(function, part)
    module: torch.nn.Module | None = None
    if call.is_layer:
        module = function(**call.arguments).double()
        module.train(call.mode == "train")
        for name, held in module.state_dict().items():
            if held.is_floating_point():
                held.copy_(torch.from_numpy(weight(name, tuple(held.shape), call.seed)))
        results = module(*given.values())
    else:
        # The first operand has several names: what the documentation has is not what C takes.
        first, *others = given
        named_operands = {name: given[name] for name in others}
        results = function(given[first], **named_operands, **call.arguments)

    outputs = _flat(results)
    weights = dict(module.named_parameters()) if module else {}
    of_operands, of_weights = _gradients(call, outputs, floating, weights)
    named: dict[str, list[Any]] = {}
    for name, parts in tensors.items():
        if parts[0].requires_grad and of_operands:
            named[name] = [of_operands.pop(0) for _part in parts]
    after = _state_of(module) if module else _running(tensors)
    values = [output.detach().numpy() for output in outputs]
    return Answer(values, named, of_weights, after)


def _flat(results: Any) -> list[torch.Tensor]:
    if isinstance(results, torch.Tensor):
        return [results]
    return [tensor for result in results if result is not None for tensor in _flat(result)]


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
    operands: list[torch.Tensor],
    weights: dict[str, torch.Tensor],
) -> tuple[list[Any], dict[str, Any]]:
    summed = [output for output in outputs if output.is_floating_point()]
    sources = [*operands, *weights.values()]
    if call.compared != "gradients" or not sources:
        return [], {}
    factors = cotangents([tuple(output.shape) for output in summed], call.seed)
    whole = torch.zeros((), dtype=torch.float64)
    for output, factor in zip(summed, factors, strict=True):
        whole = whole + (output * torch.from_numpy(factor)).sum()
    found = torch.autograd.grad(whole, sources, materialize_grads=True)
    arrays = [gradient.numpy() for gradient in found]
    return arrays[: len(operands)], dict(zip(weights, arrays[len(operands) :], strict=True))


if __name__ == "__main__":
    torch.set_num_threads(1)
    work(answer)
