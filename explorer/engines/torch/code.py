"""Code that a reader can paste to put a case to PyTorch without the explorer."""

import inspect
from pathlib import Path

from explorer.engines.torch.roots import FirstOutput, Gradient
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.scenario.contract import FOLDER, Scenario, load

JOINT_IMPORTS = [
    "from torch._dynamo.functional_export import dynamo_graph_capture_for_export",
    "from torch._functorch.aot_autograd import aot_export_joint_with_descriptors",
]


def code(request: CaseRequest, skips: bool = False) -> str:
    """A whole program, to be run from the folder that holds ``scenarios``: net, start, call, print.

    ``skips`` tells that some outputs have no place on the tape, so that only the others are
    differentiated.
    """
    scenario = load(request.net.scenario)
    lines = [*_header(request, scenario), *_net(request, scenario), *_inputs(request, scenario)]
    if request.net.engine == "torch-graph":
        lines += _joint(request, scenario)
    else:
        lines += _tape(request, scenario, skips)
    return "\n".join(lines) + "\n"


def _header(request: CaseRequest, scenario: Scenario) -> list[str]:
    asked = ["inputs", "parameters", "torch_net"] if _given(scenario) else ["inputs", "torch_net"]
    joint = request.net.engine == "torch-graph" and not request.case.must_fail
    wrapped = joint and (request.case.has_aux or request.case.order > 1)
    lines = (
        ["import contextlib"] * joint
        + ["from collections.abc import Callable"] * wrapped
        + [""] * joint
    )
    lines += ["import torch"] + JOINT_IMPORTS * joint
    if request.case.sens_param:
        lines.append("from explorer.cotangents import cotangent")
    if scenario.path.parent == FOLDER:
        return [*lines, f"from scenarios.{scenario.name} import {', '.join(asked)}", ""]
    lines += ["import sys", "", f"sys.path.insert(0, {_shown(scenario.path.parent)!r})"]
    return [*lines, f"from {scenario.name} import {', '.join(asked)}", ""]


def _shown(folder: Path) -> str:
    root = FOLDER.parent
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)


def _given(scenario: Scenario) -> bool:
    return hasattr(scenario.module, "parameters")


def _net(request: CaseRequest, scenario: Scenario) -> list[str]:
    lines = ["torch.manual_seed(0)", "net = torch_net()"]
    if request.net.parameters:
        lines.append(f"net.train({scenario.train})")
        if _given(scenario):
            lines.append(
                "start = {name: torch.from_numpy(value) for name, value in parameters().items()}"
            )
            lines.append("net.load_state_dict(start, strict=False)")
        if request.net.device != "cpu":
            lines.append(f"net.to({request.net.device!r})")
    return lines


def _inputs(request: CaseRequest, scenario: Scenario) -> list[str]:
    apart = request.net.engine == "torch-graph"
    place = "" if request.net.device == "cpu" else f".to({request.net.device!r})"
    lines = ["arrays = inputs()"]
    made: dict[int, str] = {}
    for index, (name, array) in enumerate(scenario.inputs().items()):
        twin = made.get(id(array))
        made.setdefault(id(array), name)
        value = f"torch.tensor(arrays[{name!r}]){place}" if apart or not twin else twin
        lines.append(f"{name} = {value}{'.requires_grad_()' * (index in request.case.positions)}")
    return lines


def _leaves(request: CaseRequest, scenario: Scenario) -> list[str]:
    names = list(scenario.inputs())
    weights = {"all": request.net.trainable, "one": request.net.trainable[:1], None: ()}[
        request.case.weights
    ]
    return [names[index] for index in request.case.positions] + [
        f'weights["{name}"]' for name in weights
    ]


def _tape(request: CaseRequest, scenario: Scenario, skips: bool) -> list[str]:
    case = request.case
    call = f"net({', '.join(scenario.inputs())})"
    lines = ["weights = dict(net.named_parameters())"] * bool(case.weights) + [
        "torch.manual_seed(0)"
    ]
    if case.has_aux:
        lines += [f"loss, *aux = {call}", "roots = [loss]"]
    else:
        lines += [
            f"outputs = {call}",
            "roots = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)",
        ]
    if skips:
        lines.append("roots = [root for root in roots if root.requires_grad]")
    lines.append(f"seeds = {_seeds(case, 'roots')}")
    return lines + _walk(request, scenario)


def _seeds(case: GradCase, roots: str) -> str:
    if case.sens_param:
        return f"[torch.from_numpy(cotangent(k, root.shape, str(root.dtype)[6:])).to(root) for k, root in enumerate({roots})]"
    return f"[torch.ones_like(root) for root in {roots}]"


def _walk(request: CaseRequest, scenario: Scenario) -> list[str]:
    case = request.case
    leaves = _leaves(request, scenario)
    asked = f"[{', '.join(leaves)}]"
    if case.api == "value_and_grad":
        values = "(loss, *aux)" if case.has_aux else "outputs"
        call = f"torch.autograd.backward(roots, seeds{', inputs=[]' * case.must_fail})"
        return [call, f"print({values}, [leaf.grad for leaf in {asked}])"]
    lines = []
    for _ in range(case.order - 1):
        lines.append(
            f"roots = torch.autograd.grad(roots, {asked}, seeds, create_graph=True, materialize_grads=True)"
        )
        lines.append("seeds = [torch.ones_like(root) for root in roots]")
    lines.append(f"gradients = torch.autograd.grad(roots, {asked}, seeds, materialize_grads=True)")
    return [*lines, f"print(gradients{', aux' * case.has_aux})"]


def _joint(request: CaseRequest, scenario: Scenario) -> list[str]:
    case = request.case
    arguments = ", ".join(scenario.inputs())
    if case.must_fail:
        return [f"print(torch.func.grad(net, argnums=())({arguments}))"]
    lines: list[str] = []
    wraps = [Gradient] * (case.order - 1) + [FirstOutput] * case.has_aux
    for kind in dict.fromkeys(wraps):
        lines += ["", "", *_plain(kind), "", ""]
    state = "tensors = {**dict(net.named_parameters()), **dict(net.named_buffers())}"
    module = hasattr(scenario.module, "parameters") or bool(request.net.parameters)
    lines += _freeze(request) if module else []
    lines.append(state if module else "tensors = {}")
    for kind in wraps:
        lines.append(
            f"net = Gradient(net, {case.positions[0]})"
            if kind is Gradient
            else "net = FirstOutput(net)"
        )
    return [
        *lines,
        f"forward = dynamo_graph_capture_for_export(net)({arguments})",
        "with contextlib.ExitStack() as stack:",
        f"    joint = aot_export_joint_with_descriptors(stack, forward, ({arguments},))",
        f"names = [name.removeprefix({'net.' * len(wraps)!r}) for name in [*joint.params_spec, *joint.buffers_spec]]",
        f"primals = [*(tensors[name] for name in names), {arguments}]",
        'places = [node for node in joint.graph_module.graph.nodes if node.name.startswith("tangents")]',
        'roots = [node.meta["val"] for node in places]',
        f"tangents = {_tangents(case)}",
        "torch.manual_seed(0)",
        "values, gradients = joint.graph_module(primals, tangents)",
        "print(values, [gradient for gradient in gradients if gradient is not None])",
    ]


def _tangents(case: GradCase) -> str:
    if not case.sens_param:
        return "[torch.ones(root.shape, dtype=root.dtype, device=root.device) for root in roots]"
    return "[torch.from_numpy(cotangent(k, root.shape, str(root.dtype)[6:])).to(root.dtype) for k, root in enumerate(roots)]"


def _freeze(request: CaseRequest) -> list[str]:
    weights = {"all": request.net.trainable, "one": request.net.trainable[:1], None: ()}[
        request.case.weights
    ]
    return [
        f"weights = {list(weights)!r}",
        "for name, parameter in net.named_parameters():",
        "    parameter.requires_grad_(name in weights)",
    ]


def _plain(kind: type) -> list[str]:
    return [line.partition("  # type")[0] for line in inspect.getsource(kind).rstrip().splitlines()]
