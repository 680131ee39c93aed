"""PyTorch, tape style: autograd records while the forward runs, and walks the record backwards."""

from collections.abc import Callable
from typing import Any

import torch

from explorer.engines.capture.garbage_collection import paused
from explorer.engines.torch.code import code
from explorer.engines.torch.errors import failure, outcome
from explorer.engines.torch.net import (
    Net,
    bare,
    build,
    describe,
    flat,
    forward,
    named,
    refuse_auxiliary,
    seeds,
)
from explorer.engines.torch.replay import replayed
from explorer.engines.torch.state import moved, watched
from explorer.engines.torch.tape_capture import Capture
from explorer.engines.torch.tape_recorder import Recorder
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured, Result

__all__ = ["answer", "capture", "describe", "replay"]

ZEROS = "PyTorch leaves .grad None for {}, which the outputs do not depend on; shown as zeros"


def answer(request: CaseRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    return _attempt(request, _plain)


def capture(request: CaseRequest) -> Captured:
    """The tape of one case as a graph, op by op, with the answer that was computed while it was
    recorded.
    """
    captures: list[Capture] = []
    result = _attempt(
        CaseRequest(request.net, request.case), lambda net, case: _watched(net, case, captures)
    )
    return Captured(
        tuple(made.graph(request.case.label, request.values) for made in captures), result
    )


def replay(request: CaseRequest) -> Result:
    """The gradients of one case from running its recorded operators once more, in another order
    that its graph allows.
    """
    case = request.case
    try:
        captures: list[Capture] = []
        _watched(_ready(request.net, case), case, captures)
        net = build(request.net)
        outputs, gradients = replayed(captures[0], captures[0].graph(case.label, values=False), net)
        structure, leaves = named(net, case, outputs, gradients)
    except Exception as error:
        return Result(outcome=outcome(error), error=failure(error, request.net.scenario))
    return Result(outcome="ok", structure=structure, leaves=leaves)


Solved = tuple[Any, dict[int, torch.Tensor], list[torch.Tensor], str]
"""What the net returned, the outputs differentiated by position, the gradients, and a note on them.
"""


def _attempt(request: CaseRequest, solve: Callable[[Net, GradCase], Solved]) -> Result:
    case = request.case
    try:
        net = _ready(request.net, case)
        returned, roots, gradients, note = solve(net, case)
        outputs = list(flat(returned))
        structure, leaves = named(net, case, outputs, gradients)
    except Exception as error:
        said = failure(error, request.net.scenario)
        return Result(outcome=outcome(error), error=said, code=code(request))
    shown = code(request, skips=len(roots) < (1 if case.has_aux else len(outputs)))
    natural = ", ".join(f"{name[1:]}.grad" for name in net.leaves(case))
    if case.api != "value_and_grad":
        natural = f"({', '.join(net.leaves(case))}{',' * (len(gradients) == 1)})"
    return Result(
        outcome="ok", structure=structure, leaves=leaves, natural=natural, code=shown, note=note
    )


def _ready(request: NetRequest, case: GradCase) -> Net:
    net = build(request)
    for leaf in net.leaves(case).values():
        leaf.requires_grad_()
    return net


def _plain(net: Net, case: GradCase) -> Solved:
    returned = forward(net)
    roots = differentiated(net, case, returned)
    return returned, roots, *differentiate(net, case, roots)


@paused()
def _watched(net: Net, case: GradCase, captures: list[Capture]) -> Solved:
    recorder = Recorder(net)
    with recorder, recorder.places:
        returned = forward(net)
    state = {
        name: (tensor, tensor.detach().clone())
        for name, tensor in moved(net, recorder.starts(watched(net))).items()
    }
    roots = differentiated(net, case, returned)
    with recorder:
        gradients, note = differentiate(net, case, roots, recorder.backward)
    outputs = list(flat(returned))
    names = net.scenario.outputs(len(outputs))
    found = (
        dict(zip(names, outputs, strict=True)),
        dict(zip(net.leaves(case), gradients, strict=True)),
    )
    captures.append(Capture(recorder, *found, state))
    return returned, roots, gradients, note


def differentiated(net: Net, case: GradCase, returned: Any) -> dict[int, torch.Tensor]:
    """The outputs that a case differentiates, by position: those that are on the tape, or all when
    none is.

    Raises what ``torch.func`` raises when a case splits off auxiliary outputs that the net does not
    have.
    """
    if case.has_aux and bare(returned):
        refuse_auxiliary(returned)
    outputs = dict(enumerate(flat(returned)))
    asked = {0: outputs[0]} if case.has_aux else outputs
    return {index: output for index, output in asked.items() if output.requires_grad} or asked


def differentiate(
    net: Net,
    case: GradCase,
    roots: dict[int, torch.Tensor],
    before: Callable[[list[torch.Tensor]], None] = lambda _: None,
) -> tuple[list[torch.Tensor], str]:
    """The gradients of a case in the order of its leaves, by the idiom that belongs to its api, and
    a note on them.

    ``before`` is called with the heads of every pass.
    """
    leaves = list(net.leaves(case).values())
    before(list(roots.values()))
    if case.api == "value_and_grad":
        return _backward(net, case, roots)
    heads, cotangents = list(roots.values()), seeds(case, roots)
    for _ in range(case.order - 1):
        heads = list(
            torch.autograd.grad(
                heads, leaves, cotangents, create_graph=True, materialize_grads=True
            )
        )
        before(heads)
        cotangents = seeds(case, dict(enumerate(heads)))
    return list(torch.autograd.grad(heads, leaves, cotangents, materialize_grads=True)), ""


def _backward(
    net: Net, case: GradCase, roots: dict[int, torch.Tensor]
) -> tuple[list[torch.Tensor], str]:
    named_leaves = net.leaves(case)
    torch.autograd.backward(
        list(roots.values()), seeds(case, roots), inputs=None if named_leaves else []
    )
    missing = [name[1:] for name, leaf in named_leaves.items() if leaf.grad is None]
    gradients = [
        torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in named_leaves.values()
    ]
    return gradients, ZEROS.format(", ".join(missing)) if missing else ""
