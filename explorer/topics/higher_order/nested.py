"""Nested gradients of a scenario: which of them are asked for, and what is kept of a derivative."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray, unpack
from explorer.model.cases import GradCase
from explorer.model.errors import UsageError
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest, Description, NetRequest
from explorer.model.results import Result
from explorer.scenario.declaration import Declaration
from explorer.scenario.load import load
from explorer.text.failures import message
from explorer.text.language import _
from explorer.text.messages import first_statement, repeatable
from explorer.topics.attempts import attempt, raised
from explorer.topics.scenario_nets import drawn_parameters, net_request

EVERY_ORDER = (1, 2, 3, 4, 5)
"""How often the gradient is nested."""

MOST_INPUTS = 3
"""How many inputs of a scenario are differentiated by: the first floating ones."""

SHOWN = 16
"""How many elements of a derivative are kept, evenly spaced; its norm speaks for all of them."""

NOT_ASKED = "not_asked"
"""The key of a figure of an order that this study left out; its value is the order that was too much.

That order has the number of its graph's "operators", or the "seconds" that it took.
"""

TURNS = ("first", "next")
"""The calls that are timed at each order: the first, with whatever is compiled, and another one."""


def cases(scenario: str) -> dict[str, dict[int, GradCase]]:
    """The nested gradients asked of a scenario, by input and by order.

    The inputs are its first floating ones that are no constants, at most MOST_INPUTS.
    """
    return _cases(load(scenario))


def _cases(loaded: Declaration) -> dict[str, dict[int, GradCase]]:
    cases: dict[str, dict[int, GradCase]] = {}
    for index, (name, array) in enumerate(loaded.inputs().items()):
        if array.dtype.kind != "f" or name in loaded.constants or len(cases) == MOST_INPUTS:
            continue
        cases[name] = {order: GradCase("grad", index, order=order) for order in EVERY_ORDER}
    return cases


def one_tensor(scenario: str) -> list[str]:
    """The names of a scenario's inputs that are one array; such inputs reach a net as one tensor."""
    inputs = load(scenario).inputs()
    arrays = [id(array) for array in inputs.values()]
    return [name for name, array in inputs.items() if arrays.count(id(array)) > 1]


def check_scenario(scenario: str) -> None:
    """Raise UsageError for a scenario without an input that could be differentiated by."""
    # Here, because workers import this module too, and only a run's own process checks.
    from explorer.scenario.reader import read

    if _cases(read(scenario)):
        return
    text = _(
        "the study 'higher-order' nests gradients with respect to an input, and {scenario} has none"
        " of a floating dtype (integers have no gradient); name a scenario with one, or leave the"
        " scenario out"
    )
    raise UsageError(text, scenario=Path(scenario).stem)


def cases_of_first_input(scenario: str) -> dict[int, GradCase]:
    """The nested gradients with respect to a scenario's first floating input, by order."""
    return next(iter(cases(scenario).values()))


def started_net(ask: Ask, engine: str, describe: Callable[[NetRequest], Description]) -> NetRequest:
    """The scenario's net for an engine, with the same start in both frameworks.

    Without starting values of its own it starts from draws.
    """
    net = net_request(ask, engine)
    if net.parameters:
        return net
    start = drawn_parameters(describe(net))
    return NetRequest(scenario=net.scenario, engine=engine, device=net.device, parameters=start)


class Climb:
    """The orders that are asked one after another, until one was too large or took too long.

    ``options`` has the "largest" number of operators and the "longest" seconds that an order may
    have for the next one to be asked.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._largest: int = options["largest"]
        self._longest: float = options["longest"]
        self._order, self._operators, self._seconds = 0, 0, 0.0

    def end(self) -> dict[str, Any] | None:
        """The figure of the next order if it is not to be asked; None when it is."""
        if self._operators > self._largest:
            return not_asked(too_large(self._order, self._operators))
        if self._seconds > self._longest:
            return not_asked(too_slow(self._order, self._seconds))
        return None

    def asked(self, order: int, operators: int, start: float) -> None:
        """Note the operators of an order's graph, and when asking it started (perf_counter)."""
        self._order, self._operators = order, operators
        self._seconds = time.perf_counter() - start


def too_large(order: int, operators: int) -> dict[str, Any]:
    """Why orders are not asked above one whose graph has many operators."""
    return {"order": order, "operators": operators}


def too_slow(order: int, seconds: float) -> dict[str, Any]:
    """Why orders are not asked above one that took long."""
    return {"order": order, "seconds": round(seconds)}


def not_asked(too_much: dict[str, Any]) -> dict[str, Any]:
    """The figure of an order that is not asked for."""
    return {NOT_ASKED: too_much}


def is_not_asked(figure: Any) -> bool:
    """Whether an order was left out by this study, so that no framework has said anything."""
    return isinstance(figure, dict) and NOT_ASKED in figure


def derivative(result: Result) -> dict[str, Any]:
    """A figure of an engine's answer: the derivative sampled, its dtype, or what was raised."""
    if result.error:
        statement = first_statement(repeatable(message(result.error)))
        return {"raised": result.error.type, "message": statement}
    array = unpack(result.leaves[0].value)
    return {**sampled(array), "dtype": str(array.dtype)}


def sampled(array: AnyArray) -> dict[str, Any]:
    """Shape, norm, and up to SHOWN elements of an array."""
    # The norm is over all elements, so that an error in one that is not kept shows too.
    flat = np.asarray(array, np.float64).ravel()
    picks = np.linspace(0, flat.size - 1, min(flat.size, SHOWN)).round().astype(int)
    return {
        "shape": list(np.shape(array)),
        "norm": float(np.linalg.norm(flat)),
        "elements": flat[picks].tolist(),
    }


def orders(
    ask: Ask,
    net: NetRequest,
    answer: Callable[[CaseRequest], Result],
    prepared: Callable[[CaseRequest], Callable[[], Any]],
    size_of: Callable[[CaseRequest], int] | None = None,
) -> Found:
    """The nested gradients of a net, by input and order.

    If ``ask`` says so, also the seconds of calls with respect to the first input. ``answer`` is the
    engine's, ``prepared`` makes the call that is timed, and ``size_of`` counts the operators of an
    answered case where an engine's graphs can grow too large.
    """
    seconds: dict[str, float] = {}
    if ask.options["timed"]:
        # Before any answer, which would leave compiled what the first call is to compile.
        requests = {
            order: CaseRequest(net, case)
            for order, case in cases_of_first_input(ask.scenario).items()
        }
        seconds = call_seconds(requests, prepared)

    by_input: dict[str, dict[int, Any]] = {}
    for name, by_order in cases(ask.scenario).items():
        climb = Climb(ask.options)  # anew for each input: sizes differ
        by_input[name] = {}
        for order, case in by_order.items():
            end = climb.end()
            if end:
                by_input[name][order] = end
                continue
            start = time.perf_counter()
            request = CaseRequest(net, case)
            by_input[name][order] = derivative(answer(request))
            climb.asked(order, size_of(request) if size_of else 0, start)
    return Found({"engine": net.engine, "by input": by_input}, seconds)


def call_seconds(
    requests: Mapping[int, CaseRequest], prepared: Callable[[CaseRequest], Callable[[], Any]]
) -> dict[str, float]:
    """The seconds of the calls at each order, as "order 2, first call" and "order 2, next call".

    What ``prepared`` does is not timed. A call that raises has no seconds, and is not made again.
    """
    seconds: dict[str, float] = {}
    for order, request in requests.items():
        call = prepared(request)
        for turn in TURNS:
            start = time.perf_counter()
            if raised(attempt(call)):
                break
            seconds[timing_name(order, turn)] = time.perf_counter() - start
    return seconds


def timing_name(order: int, turn: str) -> str:
    """What the seconds of one of TURNS are called."""
    return f"order {order}, {turn} call"
