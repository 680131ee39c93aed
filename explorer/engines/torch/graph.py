"""PyTorch, graph style: AOTAutograd derives forward and backward as one graph before anything runs."""

from collections.abc import Callable
from typing import Any

import torch

from explorer.engines.torch.code import code
from explorer.engines.torch.errors import failure, outcome
from explorer.engines.torch.graph_capture import JointCapture
from explorer.engines.torch.joint_graph import Joint, joint
from explorer.engines.torch.net import (
    SEED,
    Net,
    bare,
    build,
    describe,
    forward,
    named,
    refuse_auxiliary,
)
from explorer.engines.torch.replay import latest_first
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result

__all__ = ["answer", "capture", "describe", "replay"]

CONSTANT = (
    "the joint graph has no gradient for {}, which the outputs do not depend on; shown as zeros"
)


def answer(request: CaseRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    return _attempt(request, _plain)


def capture(request: CaseRequest) -> Captured:
    """The part of the joint graph that a case asks for, and the answer computed from it node by
    node.
    """
    graphs: list[GradGraph] = []
    result = _attempt(
        CaseRequest(request.net, request.case),
        lambda given, net: _watched(given, net, request.values, graphs),
    )
    return Captured(tuple(graphs), result)


def replay(request: CaseRequest) -> Result:
    """The gradients of one case from running the nodes of its joint graph in another order that its
    edges allow.
    """
    return _attempt(CaseRequest(request.net, request.case), _reordered)


Solved = tuple[Joint, list[Any]]
"""A joint graph, and the results of running it in the order of ``outputs``."""


def _attempt(request: CaseRequest, solve: Callable[[CaseRequest, Net], Solved]) -> Result:
    case = request.case
    shown = code(request)
    try:
        net = ready(request)
        outputs, gradients, note = sort_out(*solve(request, net), net, case)
        structure, leaves = named(net, case, outputs, gradients)
    except Exception as error:
        return Result(
            outcome=outcome(error), error=failure(error, request.net.scenario), code=shown
        )
    names, inputs = tuple(net.leaves(case)), len(case.positions)
    natural = (
        f"({_row(net.scenario.outputs(len(outputs)))}, {_row(names[inputs:] + names[:inputs])})"
    )
    return Result(
        outcome="ok", structure=structure, leaves=leaves, natural=natural, code=shown, note=note
    )


def _plain(request: CaseRequest, net: Net) -> Solved:
    graph = shared(request, net)
    return graph, run(graph, net, request.case)


def _captured(request: CaseRequest, net: Net) -> JointCapture:
    graph = shared(request, net)
    return JointCapture(
        graph, net, set(_keys(net, request.case)), *arguments(graph, net, request.case)
    )


def _watched(request: CaseRequest, net: Net, values: bool, graphs: list[GradGraph]) -> Solved:
    made = _captured(request, net)
    graphs.append(made.graph(request.case.label, values))
    return made.joint, made.results(made.made)


def _reordered(request: CaseRequest, net: Net) -> Solved:
    made = _captured(request, net)
    graph = made.graph(request.case.label, values=False)
    nodes = {identity: node for node, identity in made.identity.items()}
    again = made.run([nodes[identity] for identity in latest_first(graph) if identity in nodes])
    return made.joint, made.results(again)


def ready(request: CaseRequest) -> Net:
    """A fresh net of which just the leaves of the case require gradients.

    Raises what the functional idiom raises when nothing is asked for, or auxiliary outputs that the
    net does not have.
    """
    case = request.case
    net = build(request.net)
    if case.must_fail:
        torch.func.grad(net.call, argnums=())(*net.arguments)
    if case.has_aux and bare(returned := forward(net)):
        refuse_auxiliary(returned)
    net = build(request.net)  # the forward may have moved statistics
    only(net, list(net.leaves(case).values()))
    return net


def only(net: Net, leaves: list[torch.Tensor]) -> None:
    """Let ``leaves`` require gradients, and nothing else of the net; RuntimeError for integers."""
    for value in (*net.arguments, *net.state.values()):
        value.requires_grad_(False)
    for leaf in leaves:
        leaf.requires_grad_()


def shared(request: CaseRequest, net: Net) -> Joint:
    """A joint graph of everything differentiable, which many cases share, or else the one of this
    case's leaves alone.
    """
    asked = list(net.leaves(request.case).values())
    every = [value for value in net.arguments if value.is_floating_point()] + [
        net.state[name] for name in net.trainable
    ]
    only(net, every)
    try:
        return joint(request.net, net, request.case)
    except (
        RuntimeError
    ):  # a net may change an input in place, which only one that needs no gradient allows
        only(net, asked)
        return joint(request.net, net, request.case)


def run(graph: Joint, net: Net, case: GradCase) -> list[Any]:
    """The results of the graph module, in the order of ``graph.outputs``."""
    torch.manual_seed(SEED)
    primals, tangents = arguments(graph, net, case)
    if not graph.differentiates:
        return list(graph.module(*primals))
    return [item for part in graph.module(primals, tangents) for item in part]


def arguments(
    graph: Joint, net: Net, case: GradCase
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """What the graph takes: primals, and a tangent for every output that has a place for one.

    They need no gradients any more, yet gradients stay enabled: the LSTM kernel of torch 2.13 keeps
    its workspace only then.
    """
    primals = [
        net.state[name] if kind == "parameter" else net.arguments[name]
        for kind, name in graph.inputs
        if kind != "tangent"
    ]
    return primals, graph.tangents(case, primals[0].device)


def sort_out(
    graph: Joint, results: list[Any], net: Net, case: GradCase
) -> tuple[list[torch.Tensor], list[torch.Tensor], str]:
    """The net's outputs, the gradients of the case's leaves, and a note on those that had to be
    made up as zeros.
    """
    found = dict(zip(graph.outputs, results, strict=True))
    outputs = [value for (kind, _), value in found.items() if kind == "output"]
    made, missing = [], []
    for key, (name, leaf) in zip(_keys(net, case), net.leaves(case).items(), strict=True):
        gradient = found.get(("gradient", key))
        missing += [name[1:]] * (gradient is None)
        made.append(torch.zeros_like(leaf) if gradient is None else gradient)
    return outputs, made, CONSTANT.format(", ".join(missing)) if missing else ""


def _keys(net: Net, case: GradCase) -> list[Any]:
    """How a joint graph's descriptions name the leaves of a case: inputs by position, weights by
    name.
    """
    return [*case.positions, *(name[1:] for name in list(net.leaves(case))[len(case.positions) :])]


def _row(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)}{',' * (len(names) == 1)})"
