"""The full matrix of cases that a net is asked, and the structure in which MindSpore answers each."""

from itertools import combinations, product

from explorer.model.cases import Api, GradCase, Position, Weights
from explorer.model.trees import Branch, Tree

ALL_TUPLES_UP_TO = 3
"""Nets with more inputs than this are asked for single positions and the full tuple only: tuples
grow as 2**n.
"""


def matrix(inputs: int, has_parameters: bool, order: int = 1) -> tuple[GradCase, ...]:
    """Every case of a net with ``inputs`` inputs; without parameters there are no ``weights`` to
    ask for.

    ``order`` n adds, for each input, the call nested 2, …, n times.
    """
    weights: tuple[Weights | None, ...] = (None, "one", "all") if has_parameters else (None,)
    apis: tuple[Api, ...] = ("grad", "value_and_grad")
    cases: list[GradCase] = []
    for api, position, weight, has_aux in product(apis, positions(inputs), weights, (False, True)):
        cases.append(GradCase(api, position, weight, has_aux))
    by_list = (False, True) if has_parameters else (False,)
    for get_all, get_by_list, sens_param in product((False, True), by_list, (False, True)):
        cases.append(_grad_operation(inputs, get_all, get_by_list, sens_param))
    for nested, index in product(range(2, order + 1), range(inputs)):
        cases.append(GradCase("grad", index, order=nested))
    return tuple(cases)


def positions(inputs: int) -> tuple[Position, ...]:
    """None, every int, and tuples of increasing ints.

    Up to three inputs all such tuples; beyond, the 1-tuples and the full one.
    """
    every = range(inputs)
    sizes = range(1, inputs + 1) if inputs <= ALL_TUPLES_UP_TO else (1, inputs)
    tuples = [group for size in sizes for group in combinations(every, size)]
    return (None, *every, *tuples)


def _grad_operation(inputs: int, get_all: bool, get_by_list: bool, sens_param: bool) -> GradCase:
    """A case of the older form; without ``get_all`` and ``get_by_list`` it differentiates the first
    input.
    """
    position: Position = 0
    if get_all:
        position = tuple(range(inputs))
    elif get_by_list:
        position = None
    return GradCase(
        "GradOperation",
        position,
        "all" if get_by_list else None,
        get_all=get_all,
        get_by_list=get_by_list,
        sens_param=sens_param,
    )


def structure(
    case: GradCase, inputs: tuple[str, ...], parameters: tuple[str, ...], outputs: tuple[str, ...]
) -> Tree:
    """The nested names of what MindSpore 2.10 returns for a case, by the rules of its API pages.

    An int position and a 1-tuple of ``grad`` both come back bare; ``GradOperation(get_all=True)``
    always gives a tuple. ``outputs`` of length one are a bare output. Checked against both
    MindSpore engines by the tests.
    """
    by_input = tuple(f"d{inputs[index]}" for index in case.positions)
    by_weight = tuple(f"d{name}" for name in parameters)
    parts: list[Tree] = []
    if by_input:
        bare = len(by_input) == 1 and not case.get_all
        parts.append(by_input[0] if bare else Branch(by_input))
    if case.weights:
        parts.append(by_weight[0] if case.weights == "one" else Branch(by_weight))
    gradient: Tree = parts[0] if len(parts) == 1 else Branch(tuple(parts))

    if case.api == "value_and_grad":
        value: Tree = outputs[0] if len(outputs) == 1 else Branch(outputs)
        return Branch((value, gradient))
    if case.has_aux:
        return Branch((gradient, Branch(outputs[1:])))
    return gradient
