"""Signatures of callables as their framework has them, looked up in its process."""

import importlib
import inspect
from typing import Any

Parameters = dict[str, Any]
"""Defaults by names; REQUIRED where there is none."""

REQUIRED = "<required>"

PLACES = (
    "ops",
    "ops.operations",
    "ops.operations.nn_ops",
    "ops.operations._grad_ops",
    "ops.operations._inner_ops",
    "ops.auto_generate",
    "ops.auto_generate.gen_ops_prim",
)
"""Where MindSpore has its primitives."""

RECURRENT = {"LSTM", "GRU", "RNN"}
"""MindSpore's layers that take *args; their base class says what these are."""


OPERATORS = {"logsigmoid": "log_sigmoid"}
"""Functions of PyTorch whose operator has another name."""


def signature_of(name: str) -> list[Parameters]:
    """The signature of a callable; those of its overloads where it has several; none if unknown."""
    package, _dot, path = name.partition(".")
    if package == "aten":
        return _schemas(path)
    value = _value(package, path)
    last = name.rpartition(".")[2]
    if package == "mindspore" and last in RECURRENT:
        value = importlib.import_module("mindspore.nn.layer.rnns")._RNNBase
    if package == "torch" and last in RECURRENT:
        value = value.__mro__[1]
    if inspect.isclass(value) and package == "mindspore" and path.startswith("ops."):
        return [_of_primitive(value)]
    try:
        parameters = inspect.signature(
            value.__init__ if inspect.isclass(value) else value
        ).parameters
    except ValueError:
        return _schemas(last)
    if package == "torch" and last in ("max_pool2d", "adaptive_max_pool2d"):
        return signature_of(f"{name}_with_indices")
    if any(parameter.kind == parameter.VAR_POSITIONAL for parameter in parameters.values()):
        return []
    found = {parameter.name: _default(parameter) for parameter in parameters.values()}
    # How the base of recurrent layers is called is not how they are: they set its mode.
    if last in RECURRENT:
        found.pop("mode")
    if last in ("GRU", "RNN"):
        found.pop("proj_size", None)
    for own in ("self", "auto_prefix", "flags"):
        found.pop(own, None)
    return [found]


def _value(package: str, path: str) -> Any:
    value: Any = importlib.import_module(package)
    for part in path.split("."):
        value = getattr(value, part)
    return value


def _of_primitive(kind: Any) -> Parameters:
    """What a primitive is made with, and what it is called with."""
    found: Parameters = {}
    for function in (kind.__init__, kind.__call__):
        for parameter in list(inspect.signature(function).parameters.values())[1:]:
            if parameter.kind != parameter.VAR_POSITIONAL:
                found[parameter.name] = _default(parameter)
    return found


def _default(parameter: inspect.Parameter) -> Any:
    return REQUIRED if parameter.default is parameter.empty else _plain(parameter.default)


def _schemas(last: str) -> list[Parameters]:
    """Overloads of an operator of PyTorch: its functions in C have no signature."""
    torch = importlib.import_module("torch")
    last, _dot, only = last.partition(".")
    operators = (last, f"linalg_{last}", OPERATORS.get(last, last))
    packets = [getattr(torch.ops.aten, operator, None) for operator in operators]
    overloads: list[Parameters] = []
    for packet in filter(None, packets):
        for overload in [only] if only else packet.overloads():
            found: Parameters = {}
            for argument in getattr(packet, overload)._schema.arguments:
                name = "input" if argument.name == "self" else argument.name
                has_default = argument.has_default_value()
                found[name] = _plain(argument.default_value) if has_default else REQUIRED
            overloads.append(found)
    return overloads


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    is_plain = value is None or isinstance(value, (bool, int, float, str))
    return value if is_plain else repr(value)


def exists(name: str) -> bool:
    """Whether a primitive of MindSpore, or an operator of PyTorch, is there."""
    if name.startswith("aten."):
        return hasattr(importlib.import_module("torch").ops.aten, name.removeprefix("aten."))
    modules = [importlib.import_module(f"mindspore.{place}") for place in PLACES]
    return any(hasattr(module, name) for module in modules)
