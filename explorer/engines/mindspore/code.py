"""Code that a reader can paste to compute a case in MindSpore without the explorer."""

from collections.abc import Iterator
from typing import Any

from explorer.engines.listing import (
    COTANGENT_IMPORT,
    DRAWS,
    gives_parameters,
    input_expressions,
    scenario_import,
    variables,
)
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, Repacked
from explorer.scenario.declaration import Declaration
from explorer.scenario.layouts import as_entry
from explorer.scenario.load import load

MODE_NAMES = {"mindspore-graph": "GRAPH_MODE", "mindspore-tape": "PYNATIVE_MODE"}
"""MindSpore's names of the modes in which the engines run."""

SEED = 0
"""MindSpore's seed when a net is built."""


def code(request: CaseRequest) -> str:
    """A whole program: net, start, call, print; to be run from the folder of ``scenarios``."""
    scenario = load(request.net.scenario)
    case = request.case
    names = ", ".join(variables(scenario).values())
    lines = [*_header(request, scenario), *_net(request, scenario), *_inputs(scenario)]
    lines += _weights(request)
    arguments = names
    if case.sens_param:
        lines += _cotangents(names)
        arguments += ", sens"
    lines.append(f"print({call(case)}({arguments}))")
    return "\n".join(lines) + "\n"


def call(case: GradCase) -> str:
    """The expression that makes the gradient function."""
    if case.api == "GradOperation":
        return _grad_operation(case)
    net = "net"
    for _ in range(case.order - 1):
        net = f"ms.grad({net}, {case.grad_position})"
    arguments = f"{net}, grad_position={case.grad_position}"
    arguments += f", weights={'weights' if case.weights else None}"
    if case.has_aux:
        arguments += ", has_aux=True"
    return f"ms.{case.api}({arguments})"


def _grad_operation(case: GradCase) -> str:
    flags = [flag for flag in ("get_all", "get_by_list", "sens_param") if getattr(case, flag)]
    options = ", ".join(f"{flag}=True" for flag in flags)
    arguments = "net, weights" if case.get_by_list else "net"
    return f"ms.ops.GradOperation({options})({arguments})"


def _header(request: CaseRequest, scenario: Declaration) -> list[str]:
    lines = ["import mindspore as ms"]
    if any(len(piece.torch) > 1 for piece in request.net.pieces):
        lines.append("import numpy as np")
    names = ["inputs", "mindspore_net"]
    if request.net.parameters and gives_parameters(scenario):
        names.append("parameters")
    elif request.net.parameters:
        names.append("torch_net")
        lines.append("import torch")
    if request.case.sens_param:
        lines.append(COTANGENT_IMPORT)
    if request.net.parameters and _layouts(request, scenario):
        lines.append("from explorer.scenario.layouts import read, to_mindspore")
    lines += scenario_import(scenario, names)
    return [*lines, "", f"ms.set_context(mode=ms.{MODE_NAMES[request.net.engine]})"]


def _net(request: CaseRequest, scenario: Declaration) -> list[str]:
    lines = [f"ms.set_seed({SEED})", "net = mindspore_net()"]
    if request.net.has_masks:
        lines.append(DRAWS)
    if not request.net.parameters:
        if scenario.train:
            lines.append("net.set_train()")
        return lines
    lines.append(f"net.set_train({scenario.train})")
    if gives_parameters(scenario):
        lines.append("start = parameters()")
    else:
        lines += [
            "torch.manual_seed(0)",
            "start = {name: value.numpy() for name, value in torch_net().state_dict().items()}",
        ]
    # Names of what the scenario does not start say nothing here.
    started = request.net.parameters
    names = request.net.names.items()
    renames = {path: name for path, name in names if path != name and name in started}
    lines.append(f"renames = {renames!r}")
    for piece in request.net.pieces:
        lines += _pieces(piece)
    value = "value.reshape(parameter.shape)"
    layouts = _layouts(request, scenario)
    if layouts:
        lines.append(f"layouts = {layouts!r}")
        value = "to_mindspore(value, read(layouts[name]), parameter.shape)"
        value = f"{value} if name in layouts else value.reshape(parameter.shape)"
    return [
        *lines,
        "for name, parameter in net.parameters_and_names():",
        "    value = start.get(renames.get(name, name))",
        "    if value is not None:",
        f"        values = ms.Tensor({value})",
        "        parameter.set_data(values.astype(parameter.dtype))",
    ]


def _pieces(piece: Repacked) -> Iterator[str]:
    """The lines that make of PyTorch's starting values those of MindSpore's pieces."""
    if len(piece.torch) > 1:
        (name,) = piece.own
        rows = ", ".join(f"*start[{part!r}]" for part in piece.torch)
        yield f"start[{name!r}] = np.array([{rows}])"
        return
    (whole,) = piece.torch
    start = 0
    for name, shape in piece.own.items():
        stop = start + shape[0]
        yield f"start[{name!r}] = start[{whole!r}][{start}:{stop}]"
        start = stop


def _layouts(request: CaseRequest, scenario: Declaration) -> dict[str, Any]:
    """The scenario's own layouts, by the paths of the parameters in the Cell tree.

    Those of known Cells drop an axis, which reshaping does as well.
    """
    layouts = {}
    for path, name in request.net.names.items():
        layout = scenario.layouts.get(path) or scenario.layouts.get(name)
        if layout:
            layouts[path] = as_entry(layout)
    return layouts


def _weights(request: CaseRequest) -> list[str]:
    """The lines that make the ``weights`` argument of a case."""
    case, trainable = request.case, request.net.trainable
    if case.weights is None:
        return []
    names = request.net.names
    in_cell = [name for name in names.values() if name in trainable]
    if not names or in_cell == list(trainable):
        return [_weights_line(case, "net.trainable_params()")]

    # The Cell declares its parameters in another order than PyTorch's module.
    paths = {name: path for path, name in names.items()}
    return [
        "by_name = dict(net.parameters_and_names())",
        f"trained = [by_name[name] for name in {[paths[name] for name in trainable]!r}]",
        _weights_line(case, "trained"),
    ]


def _weights_line(case: GradCase, chosen: str) -> str:
    if case.weights == "all":
        return f"weights = ms.ParameterTuple({chosen})"
    return f"weights = {chosen}[0]"


def _inputs(scenario: Declaration) -> list[str]:
    expressions = input_expressions(scenario, "ms.Tensor({})")
    return [
        "arrays = inputs()",
        *(f"{name} = {expression}" for name, expression in expressions.items()),
    ]


def _cotangents(arguments: str) -> list[str]:
    return [
        f"outputs = net({arguments})",
        "several = isinstance(outputs, tuple)",
        "sens = tuple(",
        "    ms.Tensor(cotangent(k, out.shape, str(out.dtype).lower()))",
        "    for k, out in enumerate(outputs if several else (outputs,))",
        ")",
        "sens = sens if several else sens[0]",
    ]
