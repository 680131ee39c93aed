"""Answers of both styles in MindSpore's structure, and the refusals that belong to a case."""

from typing import Any

import torch

from explorer.engines.torch.errors import failure, outcome
from explorer.engines.torch.net import Net, bare, packed
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.model.results import Leaf, Result
from explorer.model.trees import Tree, names_in
from explorer.scenario.matrix import structure


def named(
    net: Net,
    case: GradCase,
    returned: Tree,
    outputs: list[torch.Tensor],
    gradients: list[torch.Tensor],
) -> tuple[Tree, tuple[Leaf, ...]]:
    """MindSpore's structure of a case, and its leaves in that order.

    ``returned`` has the names of the outputs as the net nests them.
    """
    tree = structure(case, tuple(net.inputs), case.weight_names(net.trainable), returned)
    values = dict(zip(names_in(returned), outputs, strict=True))
    values.update(zip(net.leaves(case), gradients, strict=True))
    return tree, tuple(Leaf(name, packed(values[name])) for name in names_in(tree))


def failed(request: CaseRequest, error: Exception, code: str = "") -> Result:
    """The result of a case whose computation raised."""
    reason = failure(error, request.net.scenario)
    return Result(outcome=outcome(error), error=reason, code=code)


def refuse_missing_auxiliary(case: GradCase, returned: Any) -> None:
    """Raise what ``torch.func`` raises for a net without auxiliary outputs.

    That is a net that ``returned`` no tuple of two or more, where the case splits off auxiliary
    outputs.
    """
    if case.has_aux and bare(returned):
        # The net itself is not run for it: it might raise before, for a reason of its own.
        torch.func.grad(lambda _: returned, has_aux=True)(torch.zeros(()))
