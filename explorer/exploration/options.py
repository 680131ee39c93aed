"""The options of an exploration, checked before any framework is started, and its default callbacks."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import msgspec

from explorer.environments.known import has, in_use, is_found, named
from explorer.exploration.large_nets import Demand, FirstAnswer
from explorer.model.cases import GradCase
from explorer.model.engines import (
    AT,
    ENGINES,
    FRAMEWORK_LABELS,
    NEEDED,
    STANDARD,
    engine_named,
    environment_of,
    plain,
)
from explorer.model.errors import UsageError
from explorer.model.report import CaseReport, Report
from explorer.model.requests import ProofScope
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import parse
from explorer.scenario.matrix import MAX_ORDER, case_called, cases_of, nested_call
from explorer.scenario.selection import SELECTIONS, Selection
from explorer.text.choices import choose
from explorer.text.language import _
from explorer.workers.queue import Progress, no_progress
from explorer.workers.workers import REQUEST_SECONDS


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The options of an exploration on which its report depends, checked: arguments of explore()."""

    engines: tuple[str, ...] = STANDARD
    device: str = "cpu"
    order: int = 1
    graph_case: str | None = None
    selection: Selection | None = None
    prove: ProofScope = "small"
    oracle: bool = True


def engines_of(scenario: Declaration) -> tuple[str, ...]:
    """The engines of a scenario where none is named, each at home.

    They are the four that every scenario is put to, and those of another framework where the scenario
    has a net for it and it is found.
    """
    names = []
    for name, engine in ENGINES.items():
        framework = engine.framework
        if framework in NEEDED or (
            scenario.defines(framework) and (framework in scenario.homes or is_found(framework))
        ):
            names.append(scenario.at_home(name))
    return tuple(names)


def engines_found() -> tuple[str, ...]:
    """The engines of which a net that is defined for every framework is asked where none is named."""
    found = in_use()
    return tuple(name for name, engine in ENGINES.items() if engine.framework in found)


def check_engine(name: str) -> None:
    """Check an engine's name and its environment; raises UsageError for one that there is not."""
    choose("engine", plain(name), ENGINES)
    environment, framework = environment_of(name), engine_named(name).framework
    if AT in name and not environment:
        text = _("{name!r} names no environment; write {form}, or leave out the @")
        raise UsageError(text, name=name, form=f"{plain(name)}@NAME")
    if environment and not has(named(environment), framework):
        text = _(
            "environment {environment!r} has no {framework}; `explorer env list` says which has"
        )
        raise UsageError(text, environment=environment, framework=FRAMEWORK_LABELS[framework])


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of an exploration, as the API and the shell command take them.

    ``engines`` are those of engines_of() where none is named, ``order`` n adds nested
    gradients up to that order. ``case`` is the one whose graphs are captured;
    ``cases`` selects those that are run: "all", "structure" or "main". With
    ``prove`` every op is computed again, with ``fresh`` stored results are not
    used. Without ``oracle`` no central differences are computed. Both limits
    are in seconds: of the whole run, and of one request to a worker.
    """

    engines: Sequence[str] | None = None
    device: str = "cpu"
    order: int = 1
    case: str | None = None
    cases: str | None = None
    prove: bool = False
    oracle: bool = True
    fresh: bool = False
    timeout: float = math.inf
    request_timeout: float = REQUEST_SECONDS

    def check(self) -> None:
        """Check what can be checked before the scenario's text is run; raises UsageError."""
        parse(self.device)
        engines = list(self.engines or ())
        for name in engines:
            check_engine(name)
            if engines.count(name) > 1:
                text = _("engine {engine!r} is given {n} times; give each engine once")
                raise UsageError(text, engine=name, n=engines.count(name))
        if not 1 <= self.order <= MAX_ORDER:
            text = _("order {order} is out of range; allowed: 1 to {most}")
            raise UsageError(text, order=self.order, most=MAX_ORDER)
        if self.cases is not None:
            choose("selection of cases", self.cases, SELECTIONS)

    def wanted(self, scenario: Declaration) -> Wanted:
        """The options on which the report depends, checked.

        Raises UsageError for an unknown name, and for an engine without a net.
        """
        self.check()
        given = list(self.engines or ())
        defined = [name for name in ENGINES if scenario.defines(engine_named(name).framework)]
        for name in given:
            if plain(name) not in defined:
                text = _(
                    "scenario {scenario} defines no net for {engine!r};"
                    " engines with a net: {allowed}"
                )
                allowed = ", ".join(defined)
                raise UsageError(text, scenario=scenario.name, engine=name, allowed=allowed)
        label, order = None, self.order
        if self.case:
            case = _called(scenario, self.case)
            label, order = case.label, max(order, case.order)
        return Wanted(
            engines=tuple(map(scenario.at_home, given)) or engines_of(scenario),
            device=self.device,
            order=order,
            graph_case=label,
            selection=cast("Selection | None", self.cases),
            prove="all" if self.prove else "small",
            oracle=self.oracle,
        )

    def of_one_case(self, scenario: Declaration) -> "RunOptions":
        """The same options for a command on one case: with an ``order``, on the nested call.

        Raises UsageError if ``case`` is of another order.
        """
        if self.order == 1:
            return self
        if self.case is None:
            nested = nested_call(scenario, self.order)
            return msgspec.structs.replace(self, case=nested.label)
        case = _called(scenario, self.case)
        if case.order != self.order:
            text = _("case {case} is of order {given}, not {order}; give the case or the order")
            raise UsageError(text, case=repr(case.short), given=case.order, order=self.order)
        return self


def _called(scenario: Declaration, name: str) -> GradCase:
    # Whether the nets have parameters is not known yet; a case too many does no harm here.
    # A label says its own order.
    return case_called(name, cases_of(scenario, has_parameters=True, order=MAX_ORDER))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an exploration, with the ``report`` on the results so far."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


def ignored(_said: object) -> None:
    """The default callback for all that an exploration says before its end: ignores it."""


class Callbacks(NamedTuple):
    """What is called while an exploration runs.

    ``progress`` with a stage, how much of it is done, and of how much; ``first`` with a report on the main
    case alone, and ``complete`` with each other case as it is judged. Of a large net ``before`` with what it
    demands, and ``early`` as soon as all engines have answered the main case.
    """

    progress: Progress = no_progress
    before: Callable[[Demand], None] = ignored
    early: Callable[[FirstAnswer], None] = ignored
    first: Callable[[Report], None] = ignored
    complete: Callable[[CaseReport], None] = ignored


SILENT = Callbacks()
