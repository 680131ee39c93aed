"""Code that a reader can paste to put a case to PyTorch without the explorer."""

import inspect
from collections.abc import Callable, Iterator, Sequence

from explorer.engines.listing import (
    COTANGENT_IMPORT,
    DRAWS,
    gives_parameters,
    input_expressions,
    scenario_import,
    variables,
)
from explorer.engines.torch.joint_roles import TANGENTS, JointRole
from explorer.engines.torch.roots import Gradient, rooted
from explorer.engines.torch.versions import offered
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.model.trees import DICT, Branch, Tree
from explorer.scenario.declaration import Declaration
from explorer.scenario.load import load

DYNAMO = {
    "allow_rnn": True,  # without it LSTMs are refused
    **offered("traces_transforms"),
    **offered("trace_autograd_ops"),  # without it nets are refused that call torch.autograd.grad
}
"""Settings of Dynamo (torch 2.13) that a reader needs too to get the same graph."""

DESCRIBED = offered("joint") == "described"
"""Whether AOTAutograd says what each cotangent belongs to; else it is known by the order."""

JOINT_IMPORTS = {
    "described": [
        "from torch._dynamo.functional_export import dynamo_graph_capture_for_export",
        "from torch._functorch.aot_autograd import aot_export_joint_with_descriptors",
    ],
    "ordered": [
        "from torch._functorch.aot_autograd import _aot_export_function",
        "from torch.nn.utils.stateless import _reparametrize_module",
    ],
}[offered("joint")]

METHOD_DOCSTRING = " " * 8 + '"""'
"""The beginning of a method's docstring of one line."""


def code(
    request: CaseRequest,
    skips: bool = False,
    wrappers: tuple[type, ...] | None = None,
    returned: Tree = None,
    by_backward: bool = False,
    inputs: Sequence[JointRole] = (),
) -> str:
    """A whole program, to be run from the folder that holds ``scenarios``: net, start, call, print.

    ``skips`` says that some outputs have no place on the tape, so that only the others are
    differentiated. ``wrappers`` are the modules of ours around the net in a joint graph, inner ones
    first; None where it is not known, and the case alone says which. ``returned`` has the names of
    the net's outputs as it nests them, None where it is not known. ``by_backward`` says that the net
    refuses torch.autograd.grad. ``inputs`` are the roles of what a joint graph takes.
    """
    if wrappers is None:
        wrappers = rooted(request.case)
    scenario = load(request.net.scenario)
    lines = _header(request, scenario, wrappers)
    lines += [*_net(request, scenario), *_inputs(request, scenario)]
    if request.net.engine == "torch-graph":
        lines += _in_graph(request, scenario, wrappers, [kind for kind, _ in inputs])
    else:
        lines += _on_tape(request, scenario, skips, returned, by_backward)
    return "\n".join(lines) + "\n"


# What both styles begin with


def _header(request: CaseRequest, scenario: Declaration, wrappers: tuple[type, ...]) -> list[str]:
    names = ["inputs", "parameters", "torch_net"]
    if not gives_parameters(scenario):
        names.remove("parameters")
    lines = []
    if request.net.engine == "torch-graph" and not request.case.must_fail:
        if DESCRIBED:
            lines.append("import contextlib")
        if wrappers:
            lines += ["from collections.abc import Callable", "from typing import Any"]
        lines += ["", "import torch", *JOINT_IMPORTS]
        if wrappers or not DESCRIBED:
            lines.append("from torch.utils._pytree import tree_leaves, tree_map_only")
    else:
        lines.append("import torch")
    if request.case.sens_param:
        lines.append(COTANGENT_IMPORT)
    return [*lines, *scenario_import(scenario, names), ""]


def _net(request: CaseRequest, scenario: Declaration) -> list[str]:
    lines = ["torch.manual_seed(0)", "net = torch_net()"]
    if request.net.has_masks:
        lines.append(DRAWS)
    if not request.net.parameters:
        return lines
    lines.append(f"net.train({scenario.train})")
    if gives_parameters(scenario):
        lines += [
            "start = {name: torch.from_numpy(value) for name, value in parameters().items()}",
            "net.load_state_dict(start, strict=False)",
        ]
    if request.net.device != "cpu":
        lines.append(f"net.to({request.net.device!r})")
    return lines


def _inputs(request: CaseRequest, scenario: Declaration) -> list[str]:
    tensor = "torch.tensor({})"
    if request.net.device != "cpu":
        tensor += f".to({request.net.device!r})"
    # A graph has a place of its own for every position, so it cannot see that two are one tensor.
    aliased = request.net.engine != "torch-graph"
    lines = ["arrays = inputs()"]
    expressions = input_expressions(scenario, tensor, aliased)
    for position, (name, expression) in enumerate(expressions.items()):
        if position in request.case.positions:
            expression += ".requires_grad_()"
        lines.append(f"{name} = {expression}")
    return lines


# Tape style


def _on_tape(
    request: CaseRequest, scenario: Declaration, skips: bool, returned: Tree, by_backward: bool
) -> list[str]:
    case = request.case
    call = f"net({', '.join(variables(scenario).values())})"
    lines = []
    if case.weights:
        lines.append("weights = dict(net.named_parameters())")
    lines.append("torch.manual_seed(0)")
    if _is_nested(returned):
        lines += [f"outputs = {call}", *_nested_roots(case, returned)]
    elif case.has_aux:
        lines += [f"loss, *aux = {call}", "roots = [loss]"]
    else:
        lines += [
            f"outputs = {call}",
            "roots = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)",
        ]
    return [*lines, *_seeds(case, skips), *_gradients(request, scenario, by_backward)]


def _seeds(case: GradCase, skips: bool) -> list[str]:
    """The lines that make a cotangent for each output that is differentiated."""
    # Explicit cotangents go by the place of an output among all, before any is left out.
    on_tape = " if root.requires_grad" if skips else ""
    lines = []
    if case.sens_param:
        array = "cotangent(k, root.shape, str(root.dtype)[6:])"
        seed = f"torch.from_numpy({array}).to(root)"
        lines.append(f"seeds = [{seed} for k, root in enumerate(roots){on_tape}]")
    if skips:
        lines.append("roots = [root for root in roots if root.requires_grad]")
    if not case.sens_param:
        lines.append("seeds = [torch.ones_like(root) for root in roots]")
    return lines


def _gradients(request: CaseRequest, scenario: Declaration, by_backward: bool) -> list[str]:
    case = request.case
    leaves = f"[{', '.join(_leaves(request, scenario))}]"
    if case.api == "value_and_grad":
        values = "(loss, *aux)" if case.has_aux else "outputs"
        # Nothing is requested: said so, PyTorch refuses.
        options = ", inputs=[]" if case.must_fail else ""
        return [
            f"torch.autograd.backward(roots, seeds{options})",
            f"print({values}, [leaf.grad for leaf in {leaves}])",
        ]
    if by_backward:
        aux = ", aux" if case.has_aux else ""
        return [
            "torch.autograd.backward(roots, seeds)",
            f"print([leaf.grad for leaf in {leaves}]{aux})",
        ]
    arguments = f"roots, {leaves}, seeds"
    lines = []
    for _ in range(case.order - 1):
        options = "create_graph=True, materialize_grads=True"
        lines += [
            f"roots = torch.autograd.grad({arguments}, {options})",
            "seeds = [torch.ones_like(root) for root in roots]",
        ]
    lines.append(f"gradients = torch.autograd.grad({arguments}, materialize_grads=True)")
    lines.append("print(gradients, aux)" if case.has_aux else "print(gradients)")
    return lines


def _is_nested(returned: Tree) -> bool:
    """Whether a net returns more than a tensor, or a tuple or list of tensors."""
    if not isinstance(returned, Branch):
        return False
    return bool(returned.keys) or not all(isinstance(part, str) for part in returned.parts)


def _nested_roots(case: GradCase, returned: Tree) -> list[str]:
    """The lines that pick what is differentiated out of ``outputs``."""
    if not case.has_aux:
        roots = list(_expressions(returned, "outputs"))
        return [f"roots = [{', '.join(roots)}]"]
    assert isinstance(returned, Branch)
    roots = list(_expressions(returned.parts[0], "outputs[0]"))
    return [f"roots = [{', '.join(roots)}]", "aux = outputs[1:]"]


def _expressions(tree: Tree, container: str) -> Iterator[str]:
    """An expression for every tensor of what a net returned: ``outputs[1]["k"]``."""
    if isinstance(tree, str):
        yield container
    if not isinstance(tree, Branch):
        return
    steps = [f"[{index}]" for index in range(len(tree.parts))]
    if tree.kind == DICT:
        steps = [f"[{key!r}]" for key in tree.keys]
    elif tree.keys:
        steps = [f".{key}" for key in tree.keys]
    for step, part in zip(steps, tree.parts, strict=True):
        yield from _expressions(part, container + step)


def _leaves(request: CaseRequest, scenario: Declaration) -> list[str]:
    names = list(variables(scenario).values())
    weights = request.case.weight_names(request.net.trainable)
    return [
        *(names[position] for position in request.case.positions),
        *(f'weights["{name}"]' for name in weights),
    ]


# Graph style


def _in_graph(
    request: CaseRequest, scenario: Declaration, wrappers: tuple[type, ...], roles: Sequence[str]
) -> list[str]:
    case = request.case
    arguments = ", ".join(variables(scenario).values())
    if case.must_fail:
        return [f"print(torch.func.grad(net, argnums=())({arguments}))"]
    prefix = "net." * len(wrappers)
    lines = []
    for wrapper in dict.fromkeys(wrappers):
        lines += ["", "", *_definition(wrapper), "", ""]
    lines += _state(request, scenario)
    for wrapper in wrappers:
        position = f", {case.positions[0]}" if wrapper is Gradient else ""
        lines.append(f"net = {wrapper.__name__}(net{position})")
    tokens = []
    if "forward token" in roles:
        tokens = [f"primals[:0] = [torch.zeros(0)] * {roles.count('forward token')}"]
    has_unseeded = any(role in TANGENTS and role != "tangent" for role in roles)
    call = [
        "values, gradients = graph([primal.detach() for primal in primals], tangents)",
        "print(values, [gradient for gradient in gradients if gradient is not None])",
    ]
    if "backward token" in roles:
        # The module's own call (torch 2.13) refuses these tokens.
        call = [
            "given = [*(primal.detach() for primal in primals), *tangents]",
            "values = torch.fx.Interpreter(graph).run(*given, enable_io_processing=False)",
            "print([value for value in values if value is not None])",
        ]
    return [
        *lines,
        *(f"torch._dynamo.config.{setting} = {value}" for setting, value in DYNAMO.items()),
        *JOINT_LINES[offered("joint")](arguments, prefix),
        *tokens,
        'places = [node for node in graph.graph.nodes if node.name.startswith("tangents")]',
        'roots = [node.meta["val"] for node in places]',
        f"tangents = {_tangents(case, has_unseeded)}",
        "torch.manual_seed(0)",
        *call,
    ]


def _described(arguments: str, prefix: str) -> list[str]:
    """The lines that derive a joint graph, ``graph``, and gather its arguments, ``primals``."""
    names = "[*joint.params_spec, *joint.buffers_spec]"
    return [
        f"forward = dynamo_graph_capture_for_export(net)({arguments})",
        "with contextlib.ExitStack() as stack:",
        f"    joint = aot_export_joint_with_descriptors(stack, forward, ({arguments},))",
        "graph = joint.graph_module",
        f"names = [name.removeprefix({prefix!r}) for name in {names}]",
        f"primals = [*(tensors[name] for name in names), {arguments}]",
    ]


def _ordered(arguments: str, prefix: str) -> list[str]:
    """The same before torch 2.10, and the places of the outputs that have cotangents, ``seeded``."""
    return [
        "export = torch._dynamo.export(net, assume_static_by_default=True)",
        f"forward = export({arguments}).graph_module",
        "held = {**dict(forward.named_parameters()), **dict(forward.named_buffers())}",
        "",
        "",
        "def run(*values):",
        "    with _reparametrize_module(forward, dict(zip(held, values)), tie_weights=True):",
        "        return tree_leaves(forward(*values[len(held):]))",
        "",
        "",
        f"primals = [*held.values(), {arguments}]",
        "graph, facts, *_ = _aot_export_function(run, primals, num_params_buffers=len(held))",
        "seeded = [k for k, info in enumerate(facts.output_info) if info.requires_grad]",
    ]


JOINT_LINES: dict[str, Callable[[str, str], list[str]]] = {
    "described": _described,
    "ordered": _ordered,
}
"""The lines for what this PyTorch has, by the same names as ``JOINT_IMPORTS``."""


def _definition(wrapper: type) -> list[str]:
    """The text of a class without remarks to the type checker and docstrings of methods."""
    lines = inspect.getsource(wrapper).rstrip().splitlines()
    shown = [line for line in lines if not line.startswith(METHOD_DOCSTRING)]
    return [line.partition("  # type")[0] for line in shown]


def _state(request: CaseRequest, scenario: Declaration) -> list[str]:
    """The lines that let the case's weights alone require gradients, and gather the tensors."""
    is_module = gives_parameters(scenario) or bool(request.net.parameters)
    if not is_module:
        return ["tensors = {}"]
    weights = request.case.weight_names(request.net.trainable)
    return [
        f"weights = {list(weights)!r}",
        "for name, parameter in net.named_parameters():",
        "    parameter.requires_grad_(name in weights)",
        # A tied weight goes by several names in a joint graph.
        "tensors = dict(net.named_parameters(remove_duplicate=False))",
        "tensors.update(net.named_buffers(remove_duplicate=False))",
    ]


def _tangents(case: GradCase, has_unseeded: bool) -> str:
    ones = "torch.ones(root.shape, dtype=root.dtype, device=root.device)"
    if case.sens_param:
        # An output without a gradient has no tangent: those that have one say which they are.
        array = "cotangent(k, root.shape, str(root.dtype)[6:])"
        ones = f"torch.from_numpy({array}).to(root.device, root.dtype)"
    if not (case.sens_param or has_unseeded):
        return f"[{ones} for root in roots]"
    # A leaf that is written to has a tangent too, of what it holds afterwards: it has no number, and
    # nor has a token.
    if has_unseeded:
        zeros = "torch.zeros(root.shape, dtype=root.dtype, device=root.device)"
        ones = f"{ones} if k is not None else {zeros}"
    return f"[{ones} for k, root in zip({_numbers(has_unseeded)}, roots)]"


def _numbers(has_unseeded: bool) -> str:
    """The numbers of the outputs that have a tangent; None for what is no output."""
    if not DESCRIBED:
        return "[None] * (len(places) - len(seeded)) + seeded" if has_unseeded else "seeded"
    number = 'node.meta["desc"].output.idx'
    if has_unseeded:
        number = 'getattr(getattr(node.meta["desc"], "output", None), "idx", None)'
    return f"[{number} for node in places]"
