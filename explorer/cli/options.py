"""Options of the commands on scenarios, and the checks that need no framework."""

import msgspec

from explorer.exploration.options import RunOptions, Wanted
from explorer.model.errors import UsageError
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import find
from explorer.scenario.reader import read
from explorer.text.choices import choose

FORMAT_ALIASES = {"md": "markdown", "mmd": "mermaid"}
"""Endings of files that are accepted as names of formats."""


class ScenarioOptions(RunOptions, frozen=True, kw_only=True):
    """The options of a command on a scenario, as typed."""

    name: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A checked exploration of a scenario.

    With ``fresh``, stored results are not used; limits are in seconds.
    """

    scenario: Declaration
    wanted: Wanted
    fresh: bool
    timeout: float
    request_timeout: float


def checked_plan(options: ScenarioOptions) -> Plan:
    """The exploration that the options describe.

    Raises UsageError for every mistake that can be found without a framework.
    """
    # What costs nothing to check comes first; reading the scenario starts a process.
    options.check()
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    scenario = read(find(options.name), fresh=options.fresh)
    return Plan(
        scenario=scenario,
        wanted=options.wanted(scenario),
        fresh=options.fresh,
        timeout=options.timeout,
        request_timeout=options.request_timeout,
    )


def check_seconds(option: str, seconds: float) -> None:
    """Raise UsageError unless ``seconds`` can be a time limit."""
    if not seconds > 0:  # false for NaN too
        raise UsageError(f"{option} must be a positive number of seconds, got {seconds:g}")


def chosen_formats(
    given: list[str] | None, has_folder: bool, allowed: tuple[str, ...], default: tuple[str, ...]
) -> tuple[str, ...]:
    """The formats given by one or more ``--format``, separated by commas, each once.

    Raises UsageError for an unknown format, and if there is no folder to write to.
    """
    if not given:
        return default
    if not has_folder:
        raise UsageError("--format needs a folder to write the files into; add --out DIR")
    formats: dict[str, None] = {}
    for name in ",".join(given).split(","):
        if name.strip():
            formats[chosen_format(name.strip(), allowed)] = None
    return tuple(formats)


def chosen_format(name: str, allowed: tuple[str, ...]) -> str:
    """The format called ``name``, or whose files end so; raises UsageError."""
    return choose("format", FORMAT_ALIASES.get(name, name), allowed)
