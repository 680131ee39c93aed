"""PyTorch, graph style: AOTAutograd derives forward and backward as one graph before anything runs."""

from typing import Any

import torch

from explorer.cases import GradCase
from explorer.engines.torch_code import code
from explorer.engines.torch_errors import failure, outcome
from explorer.engines.torch_joint import Joint, joint
from explorer.engines.torch_net import SEED, Net, bare, build, describe, forward, named
from explorer.records import AnswerRequest, Result

__all__ = ["answer", "describe"]

CONSTANT = "the joint graph has no gradient for {}, which the outputs do not depend on; shown as zeros"


def answer(request: AnswerRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    case = request.case
    shown = code(request)
    try:
        net = ready(request)
        graph = shared(request, net)
        outputs, gradients, note = sort_out(graph, run(graph, net, case), net, case)
        structure, leaves = named(net, case, outputs, gradients)
    except Exception as error:
        return Result(outcome=outcome(error), error=failure(error, request.net.scenario), code=shown)
    natural = f"({_row(net.scenario.outputs(len(outputs)))}, {_row(tuple(net.leaves(case)))})"
    return Result(outcome="ok", structure=structure, leaves=leaves, natural=natural, code=shown, note=note)


def ready(request: AnswerRequest) -> Net:
    """A fresh net of which just the leaves of the case require gradients.

    Raises what the functional idiom raises when nothing is asked for, or auxiliary outputs that the net does not have.
    """
    case = request.case
    net = build(request.net)
    if case.must_fail:
        torch.func.grad(net.call, argnums=())(*net.arguments)
    if case.has_aux and bare(forward(net)):
        torch.func.grad(net.call, has_aux=True)(*net.arguments)
    net = build(request.net)  # the forward may have moved statistics
    only(net, list(net.leaves(case).values()))
    return net


def only(net: Net, leaves: list[torch.Tensor]) -> None:
    """Let ``leaves`` require gradients, and nothing else of the net; RuntimeError for integers."""
    for value in (*net.arguments, *net.state.values()):
        value.requires_grad_(False)
    for leaf in leaves:
        leaf.requires_grad_()


def shared(request: AnswerRequest, net: Net) -> Joint:
    """A joint graph of everything differentiable, which many cases share, or else the one of this case's leaves alone."""
    asked = list(net.leaves(request.case).values())
    every = [value for value in net.arguments if value.is_floating_point()] + [net.state[name] for name in net.trainable]
    only(net, every)
    try:
        return joint(request.net, net, request.case)
    except RuntimeError:  # a net may change an input in place, which only one that needs no gradient allows
        only(net, asked)
        return joint(request.net, net, request.case)


def run(graph: Joint, net: Net, case: GradCase) -> list[Any]:
    """The results of the graph module, in the order of ``graph.outputs``."""
    torch.manual_seed(SEED)
    with torch.no_grad():
        returned = graph.module(*arguments(graph, net, case))
    return [item for part in returned for item in part] if graph.differentiates else list(returned)


def arguments(graph: Joint, net: Net, case: GradCase) -> tuple[Any, ...]:
    """What the graph module takes: primals and tangents as two lists, or the primals alone where there is no backward."""
    primals = [
        net.state[name] if kind == "parameter" else net.arguments[name] for kind, name in graph.inputs if kind != "tangent"
    ]
    return (primals, graph.tangents(case, primals[0].device)) if graph.differentiates else tuple(primals)


def sort_out(graph: Joint, results: list[Any], net: Net, case: GradCase) -> tuple[list[torch.Tensor], list[torch.Tensor], str]:
    """The net's outputs, the gradients of the case's leaves, and a note on those that had to be made up as zeros."""
    found = dict(zip(graph.outputs, results, strict=True))
    outputs = [value for (kind, _), value in found.items() if kind == "output"]
    leaves, made, missing = net.leaves(case), [], []
    keys = [*case.positions, *(name[1:] for name in list(leaves)[len(case.positions) :])]
    for key, (name, leaf) in zip(keys, leaves.items(), strict=True):
        gradient = found.get(("gradient", key))
        missing += [name[1:]] * (gradient is None)
        made.append(torch.zeros_like(leaf) if gradient is None else gradient)
    return outputs, made, CONSTANT.format(", ".join(missing)) if missing else ""


def _row(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)}{',' * (len(names) == 1)})"
