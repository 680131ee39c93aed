"""Options of the commands on scenarios, and the checks that need no framework."""

import math

import msgspec

from explorer.exploration.stored import Wanted
from explorer.exploration.wanted import check_names, wanted
from explorer.model.errors import UsageError
from explorer.scenario.contract import Scenario
from explorer.scenario.find import find
from explorer.scenario.reading import read
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
    # What costs nothing to check comes first; reading the scenario starts a process.
    check_names(options.engines or (), options.device, options.order, options.cases)
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    scenario = read(find(options.name), fresh=options.fresh)
    return Plan(
        scenario=scenario,
        wanted=wanted(
            scenario,
            engines=options.engines,
            device=options.device,
            order=options.order,
            case=options.case,
            cases=options.cases,
            prove=options.prove,
        ),
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
