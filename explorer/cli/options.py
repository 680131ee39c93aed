"""Options of the commands on scenarios, and the checks that need no framework."""

import math
from typing import cast

import msgspec

from explorer.exploration.stored import Wanted
from explorer.model.engines import ENGINES
from explorer.model.errors import UsageError
from explorer.scenario.contract import Scenario
from explorer.scenario.devices import parse
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.scenario.matrix import MAX_ORDER, case_called, cases_of
from explorer.scenario.selection import SELECTIONS, Selection
from explorer.text.choices import choose
from explorer.workers.workers import REQUEST_SECONDS

FORMAT_ALIASES = {"md": "markdown", "mmd": "mermaid"}
"""Endings of files that are taken for the formats too."""


class ScenarioOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a command on a scenario, as typed."""

    name: str
    device: str
    engines: list[str] | None
    order: int = 1
    case: str | None
    cases: str | None = None
    prove: bool = False
    fresh: bool = False
    timeout: float = math.inf
    request_timeout: float = REQUEST_SECONDS


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A checked exploration: what is wanted of a scenario.

    ``fresh`` ones are not taken from the store; limits are in seconds.
    """

    scenario: Scenario
    wanted: Wanted
    fresh: bool
    timeout: float
    request_timeout: float


def checked_plan(options: ScenarioOptions) -> Plan:
    """The exploration that the options ask for.

    Everything that can be refused without a framework is refused here; raises UsageError.
    """
    # What costs nothing to check comes first; reading the scenario runs its text.
    parse(options.device)
    # A dict keeps the order in which engines are named, each once.
    engines = dict.fromkeys(choose("engine", name, ENGINES) for name in options.engines or ENGINES)
    if not 1 <= options.order <= MAX_ORDER:
        raise UsageError(f"--order {options.order} is out of range; allowed: 1 to {MAX_ORDER}")
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    selection = None
    if options.cases is not None:
        selection = cast(Selection, choose("selection of cases", options.cases, SELECTIONS))
    scenario = load(find(options.name))
    _check_nets(scenario, options.engines or [])
    label = None
    if options.case:
        # Whether the nets have parameters is not known yet; a case too many does no harm here.
        cases = cases_of(scenario, has_parameters=True, order=options.order)
        label = case_called(options.case, cases).label
    wanted = Wanted(
        engines=tuple(engines),
        device=options.device,
        order=options.order,
        graph_case=label,
        selection=selection,
        prove="all" if options.prove else "small",
    )
    return Plan(
        scenario=scenario,
        wanted=wanted,
        fresh=options.fresh,
        timeout=options.timeout,
        request_timeout=options.request_timeout,
    )


def check_seconds(option: str, seconds: float) -> None:
    """Raise UsageError unless ``seconds`` can be a time limit."""
    if not seconds > 0:  # false for NaN too
        raise UsageError(
            f"{option} {seconds:g} is no time limit; allowed: any number of seconds above 0"
        )


def _check_nets(scenario: Scenario, engines: list[str]) -> None:
    """An engine that was asked for by name needs a net."""
    defined = [name for name, engine in ENGINES.items() if scenario.defines(engine.framework)]
    for name in engines:
        if name not in defined:
            raise UsageError(
                f"scenario {scenario.name} has no net for {name!r}; "
                f"it has one for {', '.join(defined)}"
            )


def chosen_formats(
    given: list[str] | None, has_folder: bool, allowed: tuple[str, ...], default: tuple[str, ...]
) -> tuple[str, ...]:
    """The formats given by one or more ``--format``, separated by commas, each once.

    Raises UsageError for an unknown format, and where there is no folder to write them to.
    """
    if not given:
        return default
    if not has_folder:
        raise UsageError("--format says what goes into a folder; give the folder too: --out DIR")
    formats: dict[str, None] = {}
    for name in ",".join(given).split(","):
        if name.strip():
            formats[chosen_format(name.strip(), allowed)] = None
    return tuple(formats)


def chosen_format(name: str, allowed: tuple[str, ...]) -> str:
    """The format that ``name`` or an ending of its files stands for; raises UsageError."""
    return choose("format", FORMAT_ALIASES.get(name, name), allowed)
