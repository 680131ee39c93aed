"""MindSpore's side of a setting, in PyNative mode; a program of its own."""

import inspect
import re
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn

from explorer.scenario.layouts import KNOWN, layout_of, to_mindspore, to_torch, torch_name
from tests.operators.answers import Answer, cotangents, flat, weight, work
from tests.operators.settings import Array, Call

LAYER = re.compile(r"_l\d+(_reverse)?$")
"""What ends the name of a weight of one of several recurrent layers."""


STATE = {
    "running_mean": "running_mean",
    "running_var": "running_var",
    "mean": "running_mean",
    "variance": "running_var",
}
"""Operands that a call changes, by PyTorch's names."""


class Run:
    """One call: its operands, and a Cell with the numbers of PyTorch's module if it is a layer."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.kind = call.callable.rpartition(".")[2]
        self.operands = {name: _tensors(call, name) for name in call.operands}
        self.places = _places(call)
        self.held: dict[str, tuple[Parameter, str]] = {}
        self.made: Any = None
        function: Any = ms
        for part in call.callable.split("."):
            function = getattr(function, part)
        self.called_with: dict[str, Any] = {}
        if inspect.isclass(function):  # a layer, or a primitive
            of_init, self.called_with = _divided(function, call)
            self.made = function(**of_init)
            self.function = None
        else:
            self.function = function
        if call.is_layer:
            self.made.set_train(call.mode == "train")
            self.held = _filled(self.made, call, self.kind)

    def outputs(self) -> list[Tensor]:
        """The results, as a flat list."""
        given: dict[str, Any] = {}
        for name, parts in self.operands.items():
            given[name] = tuple(parts) if name in self.call.lists else parts[0]
        if self.function:
            return flat(self.function(**given, **self.call.arguments))
        results = flat(self.made(*given.values(), *self.called_with.values()))
        # What a primitive returns beside its result is for its gradient.
        return results if self.call.is_layer else results[:1]

    def loss(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The sum of the results times random factors, and the results."""
        for (name, place), tensor in zip(self.places, tensors, strict=True):
            self.operands[name][place] = tensor
        outputs = self.outputs()
        summed = [output for output in outputs if output.is_floating_point()]
        factors = cotangents([tuple(output.shape) for output in summed], self.call.seed)
        whole = Tensor(0.0, ms.float32)
        for output, factor in zip(summed, factors, strict=True):
            whole = whole + (output * Tensor(factor.astype(np.float32))).sum()
        return (whole, *outputs)

    def as_torch(self, path: str, array: Array) -> Array:
        """An array of a parameter as PyTorch lays it out."""
        return to_torch(array, layout_of(path, path, _cells(self.kind), {}))


def answer(call: Call) -> Answer:
    """Run a call and differentiate its results."""
    ms.set_seed(call.seed)
    run = Run(call)
    trained = {name: held for name, held in run.held.items() if held[0].requires_grad}
    named: dict[str, list[Array]] = {}
    of_weights: dict[str, Array] = {}
    if call.compared != "gradients" or not (run.places or trained):
        outputs = run.outputs()
    else:
        outputs, of_operands, in_order = _differentiated(
            run, [held[0] for held in trained.values()]
        )
        for (name, _place), gradient in zip(run.places, of_operands, strict=True):
            named.setdefault(name, []).append(gradient.asnumpy())
        for (name, (_parameter, path)), gradient in zip(trained.items(), in_order, strict=True):
            of_weights[name] = run.as_torch(path, gradient.asnumpy())
    own = {LAYER.sub("", path) for _parameter, path in run.held.values()}
    values = [output.asnumpy() for output in outputs]
    return Answer(values, named, of_weights, _state(run), frozenset(own))


def _differentiated(
    run: Run, trained: list[Parameter]
) -> tuple[list[Tensor], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The results, and the gradients of operands and of weights."""
    sources = [run.operands[name][place] for name, place in run.places]
    positions = tuple(range(len(sources))) if sources else None
    weights = ParameterTuple(trained) if trained else None

    def loss(*tensors: Tensor) -> tuple[Tensor, ...]:
        return run.loss(*tensors)

    (_whole, *outputs), gradients = ms.value_and_grad(loss, positions, weights, has_aux=True)(
        *sources
    )
    if not trained:
        gradients = (gradients, ())
    elif not sources:
        gradients = ((), gradients)
    of_operands, of_weights = gradients
    # One position gives one tensor, several give a tuple.
    if isinstance(of_operands, Tensor):
        of_operands = (of_operands,)
    return outputs, of_operands, of_weights


def _state(run: Run) -> dict[str, Array]:
    """What the call left in parameters and running statistics."""
    after: dict[str, Array] = {}
    for name, (parameter, path) in run.held.items():
        after[name] = run.as_torch(path, parameter.asnumpy())
    for name, parts in run.operands.items():
        if name in STATE:
            after[STATE[name]] = parts[0].asnumpy()
    return after


def _divided(kind: Any, call: Call) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of a primitive that make it, and those that it is called with."""
    if call.is_layer:
        return dict(call.arguments), {}
    own = inspect.signature(kind.__init__).parameters
    of_init = {name: value for name, value in call.arguments.items() if name in own}
    return of_init, {name: value for name, value in call.arguments.items() if name not in own}


def _tensors(call: Call, name: str) -> list[Tensor]:
    tensors: list[Tensor] = []
    for array in call.operands[name]:
        tensor = Tensor(array.astype(np.int32) if array.dtype == np.int64 else array)
        is_state = name in STATE
        tensors.append(Parameter(tensor, name=name, requires_grad=False) if is_state else tensor)
    return tensors


def _places(call: Call) -> list[tuple[str, int]]:
    """The operands that are differentiated with respect to."""
    places: list[tuple[str, int]] = []
    for name, arrays in call.operands.items():
        if arrays[0].dtype == np.float32 and name not in call.constants:
            places += [(name, place) for place in range(len(arrays))]
    return places


def _cells(kind: str) -> dict[str, Any]:
    return {"": KNOWN[kind]} if kind in KNOWN else {}


def _filled(cell: nn.Cell, call: Call, kind: str) -> dict[str, tuple[Parameter, str]]:
    """Give a Cell the numbers of PyTorch's module; its parameters by PyTorch's names."""
    held: dict[str, tuple[Parameter, str]] = {}
    for path, parameter in cell.parameters_and_names():
        name = torch_name(path, parameter.name, _cells(kind), {})
        layout = layout_of(path, name, _cells(kind), {})
        shape = to_torch(np.empty(parameter.shape), layout).shape
        array = to_mindspore(weight(name, shape, call.seed), layout, tuple(parameter.shape))
        parameter.set_data(Tensor(array.astype(np.float32)))
        held[name] = (parameter, path)
    return held


if __name__ == "__main__":
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    work(answer)
