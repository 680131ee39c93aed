"""MindSpore's answers to cases: the real call in the mode of the engine, and its named result."""

import time
from collections.abc import Callable
from typing import Any

import mindspore as ms
import msgspec

from explorer.engines.mindspore.code import code
from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.net import Net, build, flat, sensitivities
from explorer.engines.repacking import repacked
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.model.results import Leaf, Result, ResultNote
from explorer.model.trees import Branch, Tree, leaves, names_in, opened, render, tree_of
from explorer.scenario.matrix import structure

MOST_COMPILED_TWICE = 64
"""Up to this many parameters a net is compiled once more, for the names that return_ids adds."""

LONG_SECONDS = 20.0
"""A net that takes more of the processor for its answer is not compiled once more either."""


def answer(request: CaseRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    case = request.case
    start = time.process_time()
    try:
        cotangents = cotangent_arguments(request)
        net = build(request.net)
        value = derivative(net.call, case, weights(net, case))(*net.arguments, *cotangents)
        tree, leaves = named(value, net, case)
    except Exception as error:
        return failed(request, error)
    ids, note = _ids(request, time.process_time() - start)
    return answered(request, tree, leaves, ids, note)


def answered(
    request: CaseRequest,
    tree: Tree,
    leaves: tuple[Leaf, ...],
    ids: tuple[str, ...] = (),
    note: ResultNote | None = None,
) -> Result:
    """The result of a case that MindSpore has answered, its gradients in PyTorch's pieces."""
    tree, leaves = repacked(tree, leaves, request.net.pieces)
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
    return Result(outcome="raised", error=failure(error, request.net.scenario), code=code(request))


def cotangent_arguments(request: CaseRequest) -> tuple[Any, ...]:
    """The arguments of a gradient function behind the net's own: its cotangents, if it has any."""
    if request.case.sens_param:
        return (sensitivities(request.net),)
    return ()


def weights(net: Net, case: GradCase) -> Any:
    """The ``weights`` argument of a case: None, one bare Parameter, or a ParameterTuple of all."""
    if case.weights is None:
        return None
    if case.weights == "one":
        return net.weights[0]
    return ms.ParameterTuple(net.weights)


def derivative(
    call: Any,
    case: GradCase,
    parameters: Any,
    wrap: Callable[[Any], Any] = lambda inner: inner,
    **options: Any,
) -> Callable[..., Any]:
    """MindSpore's gradient function of a case.

    ``parameters`` is the case's ``weights`` argument. ``wrap`` is applied to the inner gradient
    functions of a nested call; ``options`` go to ``grad``.
    """
    outer: Callable[..., Any]
    if case.api == "GradOperation":
        operation = ms.ops.GradOperation(case.get_all, case.get_by_list, case.sens_param)
        outer = operation(call, parameters) if case.get_by_list else operation(call)
        return outer
    for _ in range(case.order - 1):
        call = wrap(ms.grad(call, case.grad_position))
    api = ms.grad
    if case.api == "value_and_grad":
        api = ms.value_and_grad
    outer = api(call, case.grad_position, parameters, case.has_aux, **options)
    return outer


# Names of the results


def named(value: Any, net: Net, case: GradCase) -> tuple[Tree, tuple[Leaf, ...]]:
    """The names of a case's result in the structure it came in, and its leaves in order."""
    tree = rename(value, expected(value, net, case))
    leaves = []
    for name, tensor in zip(names_in(tree), flat(value), strict=True):
        leaves.append(Leaf(name, net.gradient(name, tensor)))
    return tree, tuple(leaves)


def gradient_of(case: GradCase, result: Any) -> Any:
    """The part of a result, or of its names, that is the gradient."""
    if isinstance(result, Branch) and (case.has_aux or case.api == "value_and_grad"):
        result = result.parts
    if case.api == "value_and_grad":
        return result[1]
    if case.has_aux:
        return result[0]
    return result


def expected(value: Any, net: Net, case: GradCase) -> Tree:
    """The names that the rules of the API give a result.

    The number of the net's outputs is read off the result itself.
    """
    returned: Tree = None
    if case.api == "value_and_grad":
        returned = tree_of(value[0], net.scenario.outputs(len(list(flat(value[0])))))
    elif case.has_aux:
        first = net.first_outputs
        names = net.scenario.outputs(first + len(list(flat(value[1]))))
        auxiliary = tree_of(tuple(value[1]), names[first:])
        assert isinstance(auxiliary, Branch)
        returned = Branch((Branch(names[:first]), *auxiliary.parts))
    if case.get_all:
        # It takes the gradient of every input, of those with integers too (2.10.0).
        every = tuple(range(len(net.inputs)))
        case = msgspec.structs.replace(case, grad_position=every)
    return structure(case, tuple(net.inputs), case.weight_names(net.trainable), returned)


def rename(value: Any, tree: Tree) -> Tree:
    """The structure of ``value`` with the names of ``tree``.

    They are given place by place where the two agree, else in order, else as g0, g1, …
    """
    container = opened(value)
    if container is None:
        return None if value is None else names_in(tree)[0]
    if isinstance(tree, Branch) and len(tree.parts) == len(container.items):
        parts = tuple(map(rename, container.items, tree.parts))
        return Branch(parts, container.kind, container.keys)
    return tree_of(value, _names(tree, len(list(flat(value)))))


def _names(tree: Tree, count: int) -> list[str]:
    """Names for ``count`` tensors that are not nested as ``tree`` is."""
    if isinstance(tree, str):
        return [f"{tree}.{index}" for index in range(count)]
    names = names_in(tree)
    if len(names) == count:
        return list(names)
    return [f"g{index}" for index in range(count)]


def _ids(request: CaseRequest, seconds: float) -> tuple[tuple[str, ...], ResultNote | None]:
    """The names that ``return_ids=True`` adds to a first gradient if requested, or why there are none.

    ``seconds`` is what the call without it took.
    """
    case = request.case
    if not (request.ids and case.takes_ids):
        return (), None
    net = build(request.net)
    if request.net.engine == "mindspore-graph":
        count = len(net.weights)
        if count > MOST_COMPILED_TWICE:
            return (), ResultNote("ids_of_many", str(count))
        if seconds > LONG_SECONDS:
            return (), ResultNote("ids_take_long")
    try:
        pairs = derivative(net.call, case, weights(net, case), return_ids=True)(*net.arguments)
    except Exception as error:
        return (), ResultNote("ids_raise", error=failure(error, request.net.scenario))
    ids = [str(item) for item in leaves(pairs) if not isinstance(item, ms.Tensor)]
    return tuple(ids), None
