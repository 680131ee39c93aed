"""The matrix of cases that a net is asked, and the structure in which MindSpore answers each."""

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

from explorer.model.cases import Api, GradCase, Position, Weights
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.requests import OutputSpec
from explorer.model.trees import TUPLE, Branch, Tree, names_in
from explorer.scenario.declaration import Declaration, has
from explorer.text.choices import refusal
from explorer.text.language import _

ALL_TUPLES_UP_TO = 3
"""Nets with more inputs are asked for single positions and the full tuple: tuples grow as 2**n."""

MAX_ORDER = 4
"""Nested gradients grow exponentially.

Both frameworks were seen to work up to here (MindSpore 2.10.0, PyTorch 2.13.0).
"""


def cases_of(scenario: Declaration, has_parameters: bool, order: int = 1) -> tuple[GradCase, ...]:
    """The cases of a scenario: its CASES, or the matrix without its CONSTANTS.

    Raises ScenarioError if none is left: all CASES need weights, and the nets have none.
    """
    names = list(scenario.inputs())
    constants = frozenset(map(names.index, scenario.constants))
    cases = matrix(len(names), has_parameters, order, constants)
    if scenario.cases is None:
        return cases
    asked = [case for case in cases if any(is_named(case, entry) for entry in scenario.cases)]
    if not asked:
        text = _("{file}: no case of this scenario matches CASES")
        if not has_parameters:
            text = _(
                "{file}: no case of this scenario matches CASES (its nets have no weights to"
                " differentiate)"
            )
        raise ScenarioError(text, file=scenario.place)
    return tuple(asked)


def nested_call(scenario: Declaration, order: int) -> GradCase:
    """The nested call of an order with respect to the first input that is no constant.

    Raises ScenarioError or UsageError if no case of the scenario is one.
    """
    for case in cases_of(scenario, has_parameters=True, order=order):
        if case.order == order:
            return case
    text = _("scenario {scenario} has no nested call of order {order}")
    raise UsageError(text, scenario=scenario.name, order=order)


def is_named(case: GradCase, entry: str | dict[str, Any]) -> bool:
    """Whether an entry of CASES means a case: by its name, or by attributes that it must have."""
    if isinstance(entry, str):
        return _without_space(entry) in map(_without_space, (case.label, case.short))
    return all(has(case, condition, value) for condition, value in entry.items())


def matrix(
    inputs: int, has_parameters: bool, order: int = 1, constants: frozenset[int] = frozenset()
) -> tuple[GradCase, ...]:
    """Every case of a net with ``inputs`` inputs, in the order of the report.

    Without parameters there are no ``weights`` to ask for. ``order`` n adds, for each input, the
    call nested 2, …, n times. No case differentiates an input at one of the positions
    ``constants``.
    """
    apis: tuple[Api, ...] = ("grad", "value_and_grad")
    weights: tuple[Weights | None, ...] = (None, "one", "all")
    flag = (False, True)
    by_list: tuple[bool, ...] = flag
    if not has_parameters:
        weights = (None,)
        by_list = (False,)

    # This order is that of the rows in every report.
    cases: list[GradCase] = []
    for api, position, weight, has_aux in product(
        apis, positions(inputs, constants), weights, flag
    ):
        cases.append(GradCase(api, position, weight, has_aux))
    for get_all, get_by_list, sens_param in product(flag, by_list, flag):
        case = _grad_operation(inputs, get_all, get_by_list, sens_param)
        # The older form cannot be told which inputs: a case that would take a constant is left out.
        if constants.isdisjoint(case.positions):
            cases.append(case)
    for nesting, index in product(range(2, order + 1), range(inputs)):
        if index not in constants:
            cases.append(GradCase("grad", index, order=nesting))
    return tuple(cases)


def positions(inputs: int, constants: frozenset[int] = frozenset()) -> tuple[Position, ...]:
    """None, every int, and tuples of increasing ints, of the inputs that are no ``constants``.

    Up to three such inputs all tuples; beyond, the 1-tuples and the full one.
    """
    indices = sorted(set(range(inputs)) - constants)
    sizes: Iterable[int] = dict.fromkeys((1, len(indices)))
    if len(indices) <= ALL_TUPLES_UP_TO:
        sizes = range(1, len(indices) + 1)
    tuples: list[tuple[int, ...]] = []
    for size in sizes:
        tuples.extend(combinations(indices, size))
    return (None, *indices, *tuples)


def _grad_operation(inputs: int, get_all: bool, get_by_list: bool, sens_param: bool) -> GradCase:
    """A case of the older form, with the position and the weights that its flags amount to.

    Without ``get_all`` and ``get_by_list`` it differentiates with respect to the first input.
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


def case_called(
    name: str, cases: Iterable[GradCase], has_parameters: bool | None = None
) -> GradCase:
    """The case with ``name`` as its label or its short name, white space aside.

    ``has_parameters`` is None where it is not known yet. Raises UsageError, which
    shows the nearest names, when there is none.
    """
    # Labels are long: a refusal shows the short names alone, of cases that have a graph.
    short_names: list[str] = []
    by_name: dict[str, GradCase] = {}
    for case in cases:
        if not case.must_fail:
            short_names.append(case.short)
        by_name[_without_space(case.label)] = case
        by_name[_without_space(case.short)] = case
    wanted = _without_space(name)
    if wanted in by_name:
        return by_name[wanted]
    fact = _("unknown case {given!r}").format(given=name)
    if has_parameters is False and "weights" in name:
        fact = _("case {given!r} needs weights, and the nets have none").format(given=name)
    # Every net has those without weights: they come first among the examples.
    short_names.sort(key=lambda short: "weights" in short)
    see = _("a run of the scenario lists its cases")
    message = refusal(fact, name, short_names, see)
    has_all = not message.endswith(see)
    if has_all and has_parameters is None and any("weights" in short for short in short_names):
        text = _("{message}; those with weights only where the nets have weights")
        message = text.format(message=message)
    raise UsageError(message)


def _without_space(text: str) -> str:
    return "".join(text.split())


def structure(
    case: GradCase, inputs: tuple[str, ...], parameters: tuple[str, ...], returned: Tree
) -> Tree:
    """The nested names of what MindSpore 2.10 returns for a case, by the rules of its API pages.

    An int position and a 1-tuple of ``grad`` both come back bare; ``GradOperation(get_all=True)``
    always gives a tuple. ``returned`` has the names of the outputs, nested as the net returns them,
    and is a tuple for a case that has_aux. The tests check it against both MindSpore engines.
    """
    by_input = tuple(f"d{inputs[index]}" for index in case.positions)
    by_weight = tuple(f"d{name}" for name in parameters)
    parts: list[Tree] = []
    if by_input:
        parts.append(Branch(by_input) if case.get_all else _bare_if_single(by_input))
    if case.weights == "one":
        parts.append(by_weight[0])
    elif case.weights == "all":
        parts.append(Branch(by_weight))  # a tuple even of one
    gradient = _bare_if_single(tuple(parts))

    # With has_aux the first output alone is differentiated; value_and_grad returns all anyway.
    if case.api == "value_and_grad":
        return Branch((returned, gradient))
    if case.has_aux:
        assert isinstance(returned, Branch)
        return Branch((gradient, Branch(returned.parts[1:])))
    return gradient


def _bare_if_single(parts: tuple[Tree, ...]) -> Tree:
    return parts[0] if len(parts) == 1 else Branch(parts)


def has_auxiliary(returned: Tree) -> bool:
    """Whether ``has_aux`` can split what a net returns into what is differentiated and the rest.

    Both frameworks ask for a tuple of two entries or more, and there must be tensors on both sides
    (MindSpore 2.10's tape refuses a loss beside None).
    """
    if not isinstance(returned, Branch) or returned.kind != TUPLE or len(returned.parts) < 2:
        return False
    first, *others = returned.parts
    return bool(names_in(first)) and bool(names_in(Branch(tuple(others))))


LOSS = "loss"
"""The name in OUTPUTS of the one output that is to be differentiated, if it is the first."""


def are_losses(scenario: Declaration, outputs: Sequence[OutputSpec]) -> bool:
    """Whether every output is a loss: a floating number each, of which the first is not called "loss".

    Then their sum is differentiated, as both frameworks do by default: has_aux would hide all but
    the first one.
    """
    if not outputs or scenario.outputs(len(outputs))[0] == LOSS:
        return False
    return all(not spec.shape and spec.dtype.startswith(("float", "bfloat")) for spec in outputs)
