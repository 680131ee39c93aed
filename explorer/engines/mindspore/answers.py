"""Cases put to MindSpore in its own words: the real call in the mode of the engine, and its result
with names attached.
"""

from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms

from explorer.engines.mindspore.code import code
from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.net import Net, build, flat, packed, sensitivities
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.model.results import Leaf, Result
from explorer.model.trees import Branch, Tree, names_in, render
from explorer.scenario.matrix import structure


def answer(request: CaseRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    case = request.case
    try:
        cotangents = cotangent_arguments(request)
        net = build(request.net)
        value = derivative(net.call, case, weights(net, case))(*net.arguments, *cotangents)
        tree, leaves = named(value, net, case)
    except Exception as error:
        return failed(request, error)
    ids, note = _ids(request)
    return answered(request, tree, leaves, ids, note)


def answered(
    request: CaseRequest,
    tree: Tree,
    leaves: tuple[Leaf, ...],
    ids: tuple[str, ...] = (),
    note: str = "",
) -> Result:
    """The result of a case that MindSpore has answered."""
    return Result(
        outcome="ok",
        structure=tree,
        leaves=leaves,
        natural=render(tree),  # MindSpore's own structure is the one that all engines answer in
        ids=ids,
        code=code(request),
        note=note,
    )


def failed(request: CaseRequest, error: Exception) -> Result:
    """The result of a case that MindSpore refused, or whose net raised."""
    said = failure(error, request.net.scenario)
    return Result(outcome="raised", error=said, code=code(request))


def cotangent_arguments(request: CaseRequest) -> tuple[Any, ...]:
    """What the gradient function of a case takes after the net's own arguments."""
    return (sensitivities(request.net),) if request.case.sens_param else ()


def weights(net: Net, case: GradCase) -> Any:
    """What the case passes as ``weights``: nothing, one bare Parameter, or all of them as a
    ParameterTuple.
    """
    if case.weights is None:
        return None
    return net.weights[0] if case.weights == "one" else ms.ParameterTuple(net.weights)


def derivative(
    call: Any,
    case: GradCase,
    parameters: Any,
    wrap: Callable[[Any], Any] = lambda inner: inner,
    **options: Any,
) -> Callable[..., Any]:
    """MindSpore's gradient function of a case, with what ``weights`` gave for ``parameters``.

    ``wrap`` sees the inner gradients of a nested call; ``options`` go to ``grad``.
    """
    outer: Callable[..., Any]
    if case.api == "GradOperation":
        operation = ms.ops.GradOperation(case.get_all, case.get_by_list, case.sens_param)
        outer = operation(call, parameters) if case.get_by_list else operation(call)
        return outer
    for _ in range(case.order - 1):
        call = wrap(ms.grad(call, case.grad_position))
    api = ms.grad if case.api == "grad" else ms.value_and_grad
    outer = api(call, case.grad_position, parameters, case.has_aux, **options)
    return outer


# The names of what comes back


def named(value: Any, net: Net, case: GradCase) -> tuple[Tree, tuple[Leaf, ...]]:
    """The names of what a case returned, in its own structure, and its leaves in order."""
    tree = rename(value, expected(value, net, case))
    leaves = []
    for name, tensor in zip(names_in(tree), flat(value), strict=True):
        leaves.append(Leaf(name, packed(tensor)))
    return tree, tuple(leaves)


def gradient_of(case: GradCase, result: Any) -> Any:
    """The part of a result, or of its names, that is the gradient."""
    if isinstance(result, Branch) and (case.has_aux or case.api == "value_and_grad"):
        result = result.parts
    if case.api == "value_and_grad":
        return result[1]
    return result[0] if case.has_aux else result


def expected(value: Any, net: Net, case: GradCase) -> Tree:
    """The names that a result should have by the rules; how many outputs there are is seen in the
    result itself.
    """
    count = 1
    if case.api == "value_and_grad":
        count = len(value[0]) if isinstance(value[0], (tuple, list)) else 1
    elif case.has_aux:
        count = len(value[1]) + 1
    weight_names = case.weight_names(net.trainable)
    return structure(case, tuple(net.inputs), weight_names, net.scenario.outputs(count))


def rename(value: Any, tree: Tree) -> Tree:
    """The structure of ``value`` with the names of ``tree``: place by place where the two agree,
    else in order, else g0, g1, …
    """
    if not isinstance(value, (tuple, list)):
        return names_in(tree)[0]
    if isinstance(tree, Branch) and len(tree.parts) == len(value):
        parts = zip(value, tree.parts, strict=True)
        return Branch(tuple(rename(item, part) for item, part in parts))
    # A net may return tuples within tuples, of which the rules know nothing.
    return _placed(value, iter(_names(tree, len(list(flat(value))))))


def _names(tree: Tree, count: int) -> list[str]:
    """Names for ``count`` tensors that are not nested as a tree says."""
    if isinstance(tree, str):
        return [f"{tree}.{index}" for index in range(count)]
    names = names_in(tree)
    return list(names) if len(names) == count else [f"g{index}" for index in range(count)]


def _placed(value: Any, names: Iterator[str]) -> Tree:
    """The structure of ``value``, whose tensors take the next of the names."""
    if isinstance(value, (tuple, list)):
        return Branch(tuple(_placed(item, names) for item in value if item is not None))
    return next(names)


def _ids(request: CaseRequest) -> tuple[tuple[str, ...], str]:
    """The names that ``return_ids=True`` adds to a first gradient, or the reason why it adds none."""
    case = request.case
    is_first_gradient = case.api == "grad" and case.order == 1
    if case.has_aux or not is_first_gradient:
        return (), ""
    net = build(request.net)
    try:
        pairs = derivative(net.call, case, weights(net, case), return_ids=True)(*net.arguments)
    except Exception as error:
        said = failure(error, request.net.scenario)
        return (), f"return_ids=True raises {said.text}"
    ids = [str(item) for item in flat(pairs) if not isinstance(item, ms.Tensor)]
    return tuple(ids), ""
