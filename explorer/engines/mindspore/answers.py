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
    shown = code(request)
    try:
        sens = (sensitivities(request.net),) if case.sens_param else ()
        net = build(request.net)
        real = derivative(net.call, case, weights(net, case))(*net.arguments, *sens)
        tree, leaves = named(real, net, case)
    except Exception as error:
        return Result(outcome="raised", error=failure(error, request.net.scenario), code=shown)
    ids, note = _ids(request)
    return Result(
        outcome="ok",
        structure=tree,
        leaves=leaves,
        natural=render(tree),
        ids=ids,
        code=shown,
        note=note,
    )


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
    asked: Any,
    wrap: Callable[[Any], Any] = lambda inner: inner,
    **options: Any,
) -> Callable[..., Any]:
    """MindSpore's gradient function of a case; ``wrap`` sees the inner gradients of a nested call,
    ``options`` go to ``grad``.
    """
    if case.api == "GradOperation":
        operation = ms.ops.GradOperation(case.get_all, case.get_by_list, case.sens_param)
        made: Callable[..., Any] = operation(call, asked) if case.get_by_list else operation(call)
        return made
    for _ in range(case.order - 1):
        call = wrap(ms.grad(call, case.grad_position))
    api = ms.grad if case.api == "grad" else ms.value_and_grad
    outer: Callable[..., Any] = api(call, case.grad_position, asked, case.has_aux, **options)
    return outer


def named(real: Any, net: Net, case: GradCase) -> tuple[Tree, tuple[Leaf, ...]]:
    """The names of a real result in its real structure, and its leaves in order."""
    tree = rename(real, expected(real, net, case))
    return tree, tuple(
        Leaf(name, packed(value)) for name, value in zip(names_in(tree), flat(real), strict=True)
    )


def gradient_of(case: GradCase, result: Any) -> Any:
    """The part of a result, or of its names, that is the gradient."""
    if isinstance(result, Branch) and (case.has_aux or case.api == "value_and_grad"):
        result = result.parts
    if case.api == "value_and_grad":
        return result[1]
    return result[0] if case.has_aux else result


def expected(real: Any, net: Net, case: GradCase) -> Tree:
    """The names that a result should have by the rules; how many outputs there are is seen in the
    result itself.
    """
    count = 1
    if case.api == "value_and_grad":
        count = len(real[0]) if isinstance(real[0], (tuple, list)) else 1
    elif case.has_aux:
        count = len(real[1]) + 1
    trainable = net.trainable if case.weights == "all" else net.trainable[:1]
    return structure(case, tuple(net.inputs), trainable, net.scenario.outputs(count))


def rename(real: Any, tree: Tree) -> Tree:
    """``real``'s own structure with the names of ``tree``: place by place where the two agree, else
    in order, else g0, g1, …
    """
    if not isinstance(real, (tuple, list)):
        return tree if isinstance(tree, str) else names_in(tree)[0]
    if isinstance(tree, Branch) and len(tree.parts) == len(real):
        return Branch(
            tuple(rename(item, part) for item, part in zip(real, tree.parts, strict=True))
        )
    count = len(list(flat(real)))
    names = names_in(tree)
    fitting = names if len(names) == count else tuple(f"g{index}" for index in range(count))
    if isinstance(tree, str):
        fitting = tuple(f"{tree}.{index}" for index in range(count))
    return _placed(real, iter(fitting))


def _placed(real: Any, names: Iterator[str]) -> Tree:
    if isinstance(real, (tuple, list)):
        return Branch(tuple(_placed(item, names) for item in real if item is not None))
    return next(names)


def _ids(request: CaseRequest) -> tuple[tuple[str, ...], str]:
    """The names that ``return_ids=True`` adds to a first gradient, or the reason why it adds none."""
    case = request.case
    if case.api != "grad" or case.has_aux or case.order > 1:
        return (), ""
    net = build(request.net)
    try:
        pairs = derivative(net.call, case, weights(net, case), return_ids=True)(*net.arguments)
    except Exception as error:
        said = failure(error, request.net.scenario)
        return (), f"return_ids=True raises {said.type}: {said.message}"
    return tuple(str(item) for item in flat(pairs) if not isinstance(item, ms.Tensor)), ""
