"""The options of an exploration, checked before any framework is started, and its default callbacks."""

from collections.abc import Iterable
from typing import cast

import msgspec

from explorer.model.engines import ENGINES
from explorer.model.errors import UsageError
from explorer.model.report import CaseReport, Report
from explorer.model.requests import ProofScope
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import parse
from explorer.scenario.matrix import MAX_ORDER, case_called, cases_of
from explorer.scenario.selection import SELECTIONS, Selection
from explorer.text.choices import choose


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a scenario: the arguments of explore() on which its report depends."""

    engines: tuple[str, ...] = tuple(ENGINES)
    device: str = "cpu"
    order: int = 1
    graph_case: str | None = None
    selection: Selection | None = None
    prove: ProofScope = "small"


def check_names(engines: Iterable[str], device: str, order: int, cases: str | None) -> None:
    """Check what can be checked before the scenario's text is run; raises UsageError."""
    parse(device)
    for name in engines:
        choose("engine", name, ENGINES)
    if not 1 <= order <= MAX_ORDER:
        raise UsageError(f"order {order} is out of range; allowed: 1 to {MAX_ORDER}")
    if cases is not None:
        choose("selection of cases", cases, SELECTIONS)


def wanted(
    scenario: Declaration,
    *,
    engines: Iterable[str] | None = None,
    device: str = "cpu",
    order: int = 1,
    case: str | None = None,
    cases: str | None = None,
    prove: bool = False,
) -> Wanted:
    """The checked options of an exploration; None are the defaults.

    ``case`` is the one whose graphs are captured, ``cases`` selects those that are run. Raises
    UsageError for an unknown name, and for an engine without a net.
    """
    named = list(engines or ())
    check_names(named, device, order, cases)
    _check_nets(scenario, named)
    label = None
    if case:
        # Whether the nets have parameters is not known yet; a case too many does no harm here.
        known = cases_of(scenario, has_parameters=True, order=order)
        label = case_called(case, known).label
    return Wanted(
        # A dict keeps the order in which engines are named, each once.
        engines=tuple(dict.fromkeys(named or ENGINES)),
        device=device,
        order=order,
        graph_case=label,
        selection=cast("Selection | None", cases),
        prove="all" if prove else "small",
    )


def _check_nets(scenario: Declaration, engines: list[str]) -> None:
    """Raise UsageError for an engine that is named and has no net."""
    defined = [name for name, engine in ENGINES.items() if scenario.defines(engine.framework)]
    for name in engines:
        if name not in defined:
            raise UsageError(
                f"scenario {scenario.name} defines no net for {name!r}; "
                f"engines with a net: {', '.join(defined)}"
            )


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an exploration, with the ``report`` on the results so far."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


def no_report(report: Report) -> None:
    """The default callback for the first report: ignores it."""


def no_row(case_report: CaseReport) -> None:
    """The default callback for a complete case: ignores it."""
