"""Scenario nets in MindSpore: built afresh for one question, started from given values, described
by their first forward.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mindspore as ms
import numpy as np
from mindspore.common.api import _pynative_executor
from mindspore.utils.ms_dispatch import MsDispatchMode

from explorer.engines.mindspore.errors import failure
from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.errors import UsageError
from explorer.model.requests import Description, NetRequest, OutputSpec, ParameterSpec
from explorer.model.results import Failure
from explorer.numeric.cotangents import cotangent
from explorer.scenario.contract import Scenario, load

SEED = 0
MODES = {"mindspore-graph": ms.GRAPH_MODE, "mindspore-tape": ms.PYNATIVE_MODE}
TARGETS = {"cpu": "CPU", "npu": "Ascend"}


@dataclass(frozen=True)
class Net:
    """One net ready to be called: its Cell or function, its input tensors by name, and its
    parameters by PyTorch's names.
    """

    scenario: Scenario
    call: Any
    inputs: dict[str, Any]
    parameters: dict[str, Any]
    trainable: tuple[str, ...]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The input tensors in positional order."""
        return tuple(self.inputs.values())

    @property
    def weights(self) -> list[Any]:
        """The trainable parameters in the order that was asked for."""
        return [self.parameters[name] for name in self.trainable]


def build(request: NetRequest) -> Net:
    """A fresh net in the mode of ``request.engine``, on its device, started from its parameters."""
    use_device(request.device)
    _pynative_executor.clear_res()  # a tape call that raised leaves its tape on (2.10.0): compiles would nest, `tensor[0]` fail
    ms.set_context(mode=MODES[request.engine])
    ms.set_seed(SEED)
    scenario = load(request.scenario)
    assert scenario.mindspore_net is not None
    call = scenario.mindspore_net()
    parameters: dict[str, Any] = {}
    if isinstance(call, ms.nn.Cell):
        call.set_train(scenario.train)
        parameters = {
            scenario.torch_name(name): parameter for name, parameter in call.parameters_and_names()
        }
    for name, start in request.parameters.items():
        if name in parameters:
            set_parameter(parameters[name], start)
    trainable = request.trainable or tuple(
        name for name, parameter in parameters.items() if parameter.requires_grad
    )
    return Net(scenario, call, tensors(scenario.inputs()), parameters, trainable)


@lru_cache(maxsize=1)
def use_device(device: str) -> None:
    """Chooses the process's device once; MindSpore 2.10 cannot move to another one afterwards."""
    kind, _, number = device.partition(":")
    if kind not in TARGETS:
        raise UsageError(f"MindSpore cannot use device {device!r}; it knows {', '.join(TARGETS)}")
    ms.set_device(TARGETS[kind], int(number or 0))


def tensors(arrays: dict[str, AnyArray]) -> dict[str, Any]:
    """MindSpore tensors of numpy arrays; one array under two names becomes one tensor under two
    names.
    """
    made = {id(array): ms.Tensor(array) for array in arrays.values()}
    return {name: made[id(array)] for name, array in arrays.items()}


def set_parameter(parameter: Any, start: Array) -> None:
    """Overwrites a parameter; a start of the same size and another shape (PyTorch's 1-d
    convolution) is reshaped.
    """
    values = unpack(start).reshape(parameter.shape)
    parameter.set_data(ms.Tensor(values.copy()).astype(parameter.dtype))


def array_of(value: Any) -> AnyArray:
    """The numpy array of a tensor or number; bfloat16 as float32."""
    if not isinstance(value, ms.Tensor):
        return np.asarray(value)
    wide = value.astype(ms.float32) if value.dtype == ms.bfloat16 else value
    plain: AnyArray = wide.asnumpy()
    return plain


def dtype_of(value: Any) -> str:
    """The dtype name of a tensor or number: "float32", "bfloat16"."""
    return (
        str(value.dtype).lower() if isinstance(value, ms.Tensor) else np.asarray(value).dtype.name
    )


def packed(value: Any) -> Array:
    """The record of a tensor or number."""
    return pack(array_of(value), dtype_of(value))


def flat(value: Any) -> Iterator[Any]:
    """The tensors and numbers of a nested output from left to right."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from flat(item)
    elif value is not None:
        yield value


def forward(net: Net) -> Any:
    """What the net returns, computed in the mode it was built for."""
    in_graph = ms.get_context("mode") == ms.GRAPH_MODE and not isinstance(net.call, ms.nn.Cell)
    return (ms.jit(net.call) if in_graph else net.call)(*net.arguments)


class Waiting(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Waits for each operator, so that one that fails does so while the user's line is still on the
    stack.
    """

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in flat(result):
            array_of(tensor)
        return result


def sensitivities(request: NetRequest) -> Any:
    """The cotangents that ``sens_param`` asks for: one tensor, or a tuple where the net returns
    several.

    A net of its own is run for the shapes: running the one that is asked about would move its
    statistics and its seed.
    """
    outputs = forward(build(request))
    several = isinstance(outputs, (tuple, list))
    made = tuple(
        ms.Tensor(cotangent(index, tuple(output.shape), dtype_of(output))).astype(output.dtype)
        for index, output in enumerate(flat(outputs))
    )
    return made if several else made[0]


def describe(request: NetRequest) -> Description:
    """The net's parameters as it declares them, and its outputs or why its forward failed."""
    parameters: tuple[ParameterSpec, ...] = ()
    try:
        net = build(request)
        parameters = tuple(
            ParameterSpec(name, parameter.name, bool(parameter.requires_grad), packed(parameter))
            for name, parameter in net.parameters.items()
        )
        outputs = forward(net)
        specs = tuple(
            OutputSpec(tuple(np.shape(array_of(output))), dtype_of(output))
            for output in flat(outputs)
        )
    except Exception as error:
        return Description(parameters, error=_located(failure(error, request.scenario), request))
    return Description(parameters, specs, not isinstance(outputs, (tuple, list)))


def _located(found: Failure, request: NetRequest) -> Failure:
    """A failure with its line: a tape computes behind the program's back and fails when a result is
    read, so make it wait.
    """
    if found.source or request.engine != "mindspore-tape":
        return found
    try:
        with Waiting():
            forward(build(request))
    except Exception as error:
        return failure(error, request.scenario)
    return found
