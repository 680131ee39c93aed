"""Environments that are given by the path of a Python, with short names for a report that is read."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from explorer.model.engines import AT, environment_of
from explorer.model.report import Report

PYTHON = re.compile(r"(bin|Scripts|python[\w.]*)")
"""The parts of a path behind an environment's own folder."""


def short_names(environments: Collection[str]) -> dict[str, str]:
    """The last folders of the paths among some environments, as many as tell them apart."""
    folders: dict[str, list[str]] = {}
    for environment in environments:
        if "/" in environment or "\\" in environment:
            parts = [part for part in re.split(r"[/\\]", environment) if part]
            while len(parts) > 1 and PYTHON.fullmatch(parts[-1]):
                parts.pop()
            folders[environment] = parts
    others = set(environments) - folders.keys()
    longest = max(map(len, folders.values()), default=0)
    for count in range(1, longest + 1):
        names = {path: "/".join(parts[-count:]) for path, parts in folders.items()}
        if len(others.union(names.values())) == len(others) + len(names):
            return names
    return {path: path for path in folders}


def with_short_names(report: Report, engines: Sequence[str]) -> tuple[Report, list[str]]:
    """A report and some of its engines with short names of their environments."""
    names = short_names(dict.fromkeys(map(environment_of, engines)))
    if not names:
        return report, list(engines)
    return _renamed(report, names), _renamed(list(engines), names)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A record and all in it, where engines and keys have other names of environments."""
    match value:
        case str():
            for path, name in names.items():
                value = value.replace(AT + path, AT + name)
            return value
        case msgspec.Struct():
            parts = _renamed(msgspec.structs.asdict(value), names)
            return msgspec.structs.replace(value, **parts)
        case dict():
            renamed = {key: _renamed(part, names) for key, part in value.items()}
            return {names.get(key, _renamed(key, names)): part for key, part in renamed.items()}
        case tuple() | list():
            # From a list: Python 3.10 makes another empty tuple of a generator, which is written.
            return type(value)([_renamed(part, names) for part in value])
    return value
