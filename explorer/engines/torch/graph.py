"""PyTorch, graph style: AOTAutograd derives forward and backward as one graph before anything runs."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from explorer.engines.capture.lint import latest_first
from explorer.engines.torch.code import code
from explorer.engines.torch.errors import failed
from explorer.engines.torch.graph_capture import JointGradGraph
from explorer.engines.torch.joint_graph import Joint, JointPart, joint
from explorer.engines.torch.joint_roles import TANGENTS
from explorer.engines.torch.net import (
    Net,
    build,
    changed_state,
    describe,
    flat,
    forward,
    named,
    refuse_missing_auxiliary,
    start_of_state,
    start_random_numbers,
)
from explorer.engines.torch.put_in import NOTHING, Values
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result, ResultNote
from explorer.model.state import StateChange

__all__ = ["answer", "capture", "describe", "replay"]

JointResults = tuple[Joint, list[Any]]
"""A joint graph, and the results of running it in the order of ``outputs``."""


def answer(request: CaseRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    return _answered(request, _solve)


def capture(request: CaseRequest) -> Captured:
    """The part of the joint graph that belongs to a case, and the answer.

    The answer is computed from that graph, node by node.
    """
    graphs: list[GradGraph] = []
    state: list[StateChange] = []
    result = _answered(request, partial(_solve_recorded, graphs=graphs, state=state))
    return Captured(tuple(graphs), result, tuple(state))


def replay(request: CaseRequest) -> Result:
    """The gradients of one case from its joint graph, run in another order.

    The order is one that the graph's edges allow.
    """
    return _answered(request, _solve_reordered)


def _answered(request: CaseRequest, solve: Callable[[CaseRequest, Net], JointResults]) -> Result:
    case = request.case
    try:
        net = ready(request)
        graph, results = solve(request, net)
        outputs, gradients, note = _outputs_and_gradients(graph, results, net, case)
        structure, leaves = named(net, case, graph.returned, outputs, gradients)
    except Exception as error:
        return failed(request, error, code(request))
    return Result(
        outcome="ok",
        structure=structure,
        leaves=leaves,
        natural=_natural(net, case, len(outputs)),
        code=code(request, wrappers=graph.wrappers, inputs=graph.inputs),
        note=note,
    )


def _solve(request: CaseRequest, net: Net) -> JointResults:
    graph = shared(request, net)
    return graph, run(graph, net, request.case)


def _solve_recorded(
    request: CaseRequest, net: Net, graphs: list[GradGraph], state: list[StateChange]
) -> JointResults:
    """Run the graph node by node, and append it to ``graphs`` and what it changes to ``state``."""
    part = _part(request, net)
    values = part.run(part.nodes)
    drawn = JointGradGraph(part, values, net.leaf_keys(request.case), request.values)
    if request.proves:
        drawn.prove(request.prove == "all")
    graphs.append(drawn.record(request.case.label))
    results = part.results(values)
    after = {}
    for (kind, key), value in zip(part.joint.outputs, results, strict=True):
        if kind == "state" and isinstance(key, str):
            after[key] = value
    state += changed_state(start_of_state(net), after)
    return part.joint, results


def recorded_graph(request: CaseRequest, instead: Mapping[str, Values] = NOTHING) -> JointGradGraph:
    """The graph that a capture gives, before it becomes a record.

    ``instead`` has other values for the outputs of some nodes, by their ids.
    """
    net = ready(request)
    part = _part(request, net)
    values = part.run(part.nodes)
    drawn = JointGradGraph(part, values, net.leaf_keys(request.case), request.values)
    if not instead:
        return drawn
    fx_nodes = drawn.fx_nodes_by_id()
    values = part.run(part.nodes, {fx_nodes[node]: other for node, other in instead.items()})
    return JointGradGraph(part, values, net.leaf_keys(request.case), request.values)


def _solve_reordered(request: CaseRequest, net: Net) -> JointResults:
    """Run the graph node by node, the latest node that is ready first."""
    part = _part(request, net)
    values = part.run(part.nodes)
    drawn = JointGradGraph(part, values, net.leaf_keys(request.case), values=False)
    fx_nodes = drawn.fx_nodes()
    numbers = latest_first(drawn.record(request.case.label))
    order = [fx_nodes[number] for number in numbers if number in fx_nodes]
    return part.joint, part.results(part.run(order))


def _part(request: CaseRequest, net: Net) -> JointPart:
    graph = shared(request, net)
    wanted = net.leaf_keys(request.case)
    return JointPart(graph, net, wanted, *_arguments(graph, net, request.case))


def _natural(net: Net, case: GradCase, outputs: int) -> str:
    """The return value of the joint graph, as PyTorch would write it: parameters before inputs."""
    names = tuple(net.leaves(case))
    inputs = len(case.positions)
    gradients = names[inputs:] + names[:inputs]
    return f"({_row(net.scenario.outputs(outputs))}, {_row(gradients)})"


def _row(names: tuple[str, ...]) -> str:
    comma = "," if len(names) == 1 else ""
    return f"({', '.join(names)}{comma})"


def ready(request: CaseRequest) -> Net:
    """A fresh net of which just the leaves of the case require gradients.

    Raises what the functional idiom raises when nothing is requested, or auxiliary outputs that the
    net does not have.
    """
    case = request.case
    net = build(request.net)
    if case.must_fail:
        torch.func.grad(net.call, argnums=())(*net.arguments)
    if case.has_aux:
        refuse_missing_auxiliary(case, forward(net))
        net = build(request.net)  # that forward may have moved statistics
    _require_gradients(net, list(net.leaves(case).values()))
    return net


def _require_gradients(net: Net, leaves: list[torch.Tensor]) -> None:
    """Let ``leaves`` require gradients, and nothing else of the net; RuntimeError for integers."""
    for value in (*net.arguments, *net.state.values()):
        value.requires_grad_(False)
    for leaf in leaves:
        leaf.requires_grad_()


def shared(request: CaseRequest, net: Net) -> Joint:
    """A joint graph that many cases share, or else the one of this case's leaves alone.

    The shared graph has the gradients with respect to everything differentiable.
    """
    differentiable = []
    for position, (name, value) in enumerate(net.inputs.items()):
        # Of an input that is a constant no gradient is taken, unless a case names it all the same.
        is_asked = name not in net.scenario.constants or position in request.case.positions
        if value.is_floating_point() and is_asked:
            differentiable.append(value)
    differentiable += [net.state[name] for name in net.trainable]
    _require_gradients(net, differentiable)
    try:
        return joint(request.net, net, request.case)
    except RuntimeError:
        # A net may change an input in place, which PyTorch allows only where that input needs no
        # gradient.
        _require_gradients(net, list(net.leaves(request.case).values()))
        return joint(request.net, net, request.case)


def run(graph: Joint, net: Net, case: GradCase) -> list[Any]:
    """The results of the graph module, in the order of ``graph.outputs``."""
    start_random_numbers(net.seed)
    primals, tangents = _arguments(graph, net, case)
    # The module's own call (torch 2.13) refuses the tokens that backward takes.
    interpreter = torch.fx.Interpreter(graph.module)
    return list(interpreter.run(*primals, *tangents, enable_io_processing=False))


def _arguments(
    graph: Joint, net: Net, case: GradCase
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The graph's arguments: primals, and a tangent for each output that has a place for one."""
    # Gradients stay enabled, since the LSTM kernel of torch 2.13 keeps its workspace only then, but
    # nothing needs any: an operator of the graph may have no derivative of its own.
    primals = []
    for node, (kind, key) in zip(graph.placeholders, graph.inputs, strict=True):
        if kind in ("parameter", "twin"):
            primals.append(net.state[key].detach())
        elif kind == "forward token":
            primals.append(torch.zeros(node.meta["val"].shape))
        elif kind not in TANGENTS:
            primals.append(net.arguments[key].detach())
    return primals, graph.tangents(case, primals[-1].device)


def _outputs_and_gradients(
    graph: Joint, results: list[Any], net: Net, case: GradCase
) -> tuple[list[torch.Tensor], list[torch.Tensor], ResultNote | None]:
    """The net's outputs, the gradients of the case's leaves, and a note on them.

    The note names the leaves whose gradients had to be made up as zeros.
    """
    by_role = dict(zip(graph.outputs, results, strict=True))
    outputs = list(flat([value for (kind, _), value in by_role.items() if kind == "output"]))
    gradients = []
    without = []
    for key, (name, leaf) in zip(net.leaf_keys(case), net.leaves(case).items(), strict=True):
        gradient = by_role.get(("gradient", key))
        if gradient is None:
            without.append(name.removeprefix("d"))
            gradient = torch.zeros_like(leaf)
        gradients.append(gradient)
    if not without:
        return outputs, gradients, None
    return outputs, gradients, ResultNote("joint_has_none", ", ".join(without))
