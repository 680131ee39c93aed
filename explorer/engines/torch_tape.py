"""PyTorch, tape style: autograd records while the forward runs, and walks the record backwards."""

from typing import Any

import torch

from explorer.cases import GradCase
from explorer.engines.torch_code import code
from explorer.engines.torch_errors import failure, outcome
from explorer.engines.torch_net import Net, bare, build, describe, flat, forward, named, seeds
from explorer.records import AnswerRequest, Result

__all__ = ["answer", "describe"]

ZEROS = "PyTorch leaves .grad None for {}, which the outputs do not depend on; shown as zeros"


def answer(request: AnswerRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    case = request.case
    skips = False
    try:
        net = build(request.net)
        for leaf in net.leaves(case).values():
            leaf.requires_grad_()
        returned = forward(net)
        outputs = list(flat(returned))
        roots = differentiated(net, case, returned)
        skips = len(roots) < (1 if case.has_aux else len(outputs))
        gradients, note = differentiate(net, case, roots)
        structure, leaves = named(net, case, outputs, gradients)
    except Exception as error:
        said = failure(error, request.net.scenario)
        return Result(outcome=outcome(error), error=said, code=code(request, skips))
    natural = ", ".join(f"{name[1:]}.grad" for name in net.leaves(case))
    if case.api != "value_and_grad":
        natural = f"({', '.join(net.leaves(case))}{',' * (len(gradients) == 1)})"
    return Result(outcome="ok", structure=structure, leaves=leaves, natural=natural, code=code(request, skips), note=note)


def differentiated(net: Net, case: GradCase, returned: Any) -> dict[int, torch.Tensor]:
    """The outputs that a case differentiates, by position: those that are on the tape, or all when none is.

    Raises what ``torch.func`` raises when a case splits off auxiliary outputs that the net does not have.
    """
    if case.has_aux and bare(returned):
        torch.func.grad(net.call, has_aux=True)(*(argument.detach() for argument in net.arguments))
    outputs = dict(enumerate(flat(returned)))
    asked = {0: outputs[0]} if case.has_aux else outputs
    return {index: output for index, output in asked.items() if output.requires_grad} or asked


def differentiate(net: Net, case: GradCase, roots: dict[int, torch.Tensor]) -> tuple[list[torch.Tensor], str]:
    """The gradients of a case in the order of its leaves, by the idiom that belongs to its api, and a note on them."""
    leaves = list(net.leaves(case).values())
    if case.api == "value_and_grad":
        return _backward(net, case, roots)
    heads, cotangents = list(roots.values()), seeds(case, roots)
    for _ in range(case.order - 1):
        heads = list(torch.autograd.grad(heads, leaves, cotangents, create_graph=True, materialize_grads=True))
        cotangents = [torch.ones_like(head) for head in heads]
    return list(torch.autograd.grad(heads, leaves, cotangents, materialize_grads=True)), ""


def _backward(net: Net, case: GradCase, roots: dict[int, torch.Tensor]) -> tuple[list[torch.Tensor], str]:
    named_leaves = net.leaves(case)
    torch.autograd.backward(list(roots.values()), seeds(case, roots), inputs=None if named_leaves else [])
    missing = [name[1:] for name, leaf in named_leaves.items() if leaf.grad is None]
    gradients = [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in named_leaves.values()]
    return gradients, ZEROS.format(", ".join(missing)) if missing else ""
