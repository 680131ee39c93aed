"""Code that a reader can paste to put a case to MindSpore without the explorer."""

from pathlib import Path

from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.scenario.contract import FOLDER, RENAMES, Scenario, load

MODE_NAMES = {"mindspore-graph": "GRAPH_MODE", "mindspore-tape": "PYNATIVE_MODE"}


def code(request: CaseRequest) -> str:
    """A whole program, to be run from the folder that holds ``scenarios``: net, start, call, print."""
    scenario = load(request.net.scenario)
    case = request.case
    arguments = ", ".join(scenario.inputs())
    lines = [*_header(request, scenario), *_net(request, scenario), *_inputs(scenario)]
    if case.weights:
        lines.append(_weights(request))
    if case.sens_param:
        lines += _sens(scenario, arguments)
    lines.append(f"print({call(case)}({arguments}{', sens' if case.sens_param else ''}))")
    return "\n".join(lines) + "\n"


def call(case: GradCase) -> str:
    """The expression that makes the gradient function."""
    if case.api == "GradOperation":
        flags = [flag for flag in ("get_all", "get_by_list", "sens_param") if getattr(case, flag)]
        given = ", ".join(f"{flag}=True" for flag in flags)
        return f"ms.ops.GradOperation({given})(net{', weights' if case.get_by_list else ''})"
    net = "net"
    for _ in range(case.order - 1):
        net = f"ms.grad({net}, {case.grad_position})"
    options = [
        f"grad_position={case.grad_position}",
        f"weights={'weights' if case.weights else None}",
    ]
    options += ["has_aux=True"] * case.has_aux
    return f"ms.{case.api}({net}, {', '.join(options)})"


def _header(request: CaseRequest, scenario: Scenario) -> list[str]:
    asked = ["inputs", "mindspore_net"]
    if request.net.parameters:
        asked.append("parameters" if hasattr(scenario.module, "parameters") else "torch_net")
    lines = ["import mindspore as ms"]
    if "torch_net" in asked:
        lines.append("import torch")
    if request.case.sens_param:
        lines.append("from explorer.cotangents import cotangent")
    if scenario.path.parent == FOLDER:
        lines.append(f"from scenarios.{scenario.name} import {', '.join(asked)}")
    else:
        lines += ["import sys", "", f"sys.path.insert(0, {_shown(scenario.path.parent)!r})"]
        lines.append(f"from {scenario.name} import {', '.join(asked)}")
    return [*lines, "", f"ms.set_context(mode=ms.{MODE_NAMES[request.net.engine]})"]


def _shown(folder: Path) -> str:
    root = FOLDER.parent
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)


def _net(request: CaseRequest, scenario: Scenario) -> list[str]:
    lines = ["ms.set_seed(0)", "net = mindspore_net()"]
    if not request.net.parameters:
        return lines + ["net.set_train()"] * scenario.train
    lines.append(f"net.set_train({scenario.train})")
    if hasattr(scenario.module, "parameters"):
        lines.append("start = parameters()")
    else:
        lines += [
            "torch.manual_seed(0)",
            "start = {name: value.numpy() for name, value in torch_net().state_dict().items()}",
        ]
    return [
        *lines,
        f"renames = {scenario.renames!r}",
        f"endings = {RENAMES!r}",
        "for name, parameter in net.parameters_and_names():",
        '    head, dot, last = name.rpartition(".")',
        "    value = start.get(renames.get(name, head + dot + endings.get(last, last)))",
        "    if value is not None:",
        "        parameter.set_data(ms.Tensor(value.reshape(parameter.shape)).astype(parameter.dtype))",
    ]


def _inputs(scenario: Scenario) -> list[str]:
    lines = ["arrays = inputs()"]
    made: dict[int, str] = {}
    for name, array in scenario.inputs().items():
        lines.append(
            f"{name} = {made[id(array)]}"
            if id(array) in made
            else f"{name} = ms.Tensor(arrays[{name!r}])"
        )
        made.setdefault(id(array), name)
    return lines


def _weights(request: CaseRequest) -> str:
    if request.case.weights == "all":
        return "weights = ms.ParameterTuple(net.trainable_params())"
    return "weights = net.trainable_params()[0]"


def _sens(scenario: Scenario, arguments: str) -> list[str]:
    return [
        f"outputs = net({arguments})",
        "several = isinstance(outputs, tuple)",
        "sens = tuple(",
        "    ms.Tensor(cotangent(k, out.shape, str(out.dtype).lower()))",
        "    for k, out in enumerate(outputs if several else (outputs,))",
        ")",
        "sens = sens if several else sens[0]",
    ]
