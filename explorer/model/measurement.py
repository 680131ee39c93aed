"""Measurements: small programs that run in a worker, what they are given, what they return."""

from typing import Any

import msgspec

from explorer.model.engines import WorkerKind
from explorer.model.failures import Failure
from explorer.model.graph import GradGraph
from explorer.model.results import Outcome

Figures = dict[str, Any]
"""Measured values by name: numbers, strings, booleans, None, and lists and dicts of them.

Numbers that are not finite are spelt as strings ("NaN", "Infinity", "-Infinity"): strict JSON has
no others.
"""


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One program to run in the worker of ``kind``.

    ``target`` is "module:function", a function from Ask to Found. ``name`` is what records call it
    by: "loss-scale.guide_example.mindspore-tape". ``printed`` and ``meant`` name functions or classes
    of the program's module: code adapted from a guide's, and what its author meant.
    """

    name: str
    kind: WorkerKind
    target: str
    scenario: str = ""
    device: str = "cpu"
    options: dict[str, Any] = {}
    printed: str = ""
    meant: str = ""


class Ask(msgspec.Struct, frozen=True):
    """The argument of a measuring function.

    ``scenario`` is a scenario's file (or ""), ``options`` are the measurement's own.
    """

    scenario: str = ""
    device: str = "cpu"
    options: dict[str, Any] = {}


class Found(msgspec.Struct, frozen=True):
    """The result of a measuring function.

    ``figures`` are the same at every run, ``timings``, in seconds, are not; ``graphs`` are gradient
    graphs that it captured.
    """

    figures: Figures
    timings: dict[str, float] = {}
    graphs: tuple[GradGraph, ...] = ()


class Measured(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A measurement's outcome: what was found, or the error that kept it from being found.

    ``code`` is the source of the function that ran; ``printed`` and ``meant`` are the parts of it that
    a guide prints and that its author meant, empty where no guide prints any. ``date`` is the day of
    the run, in ISO 8601.
    """

    outcome: Outcome
    figures: Figures = {}
    timings: dict[str, float] = {}
    graphs: tuple[GradGraph, ...] = ()
    error: Failure | None = None
    code: str = ""
    printed: str = ""
    meant: str = ""
    date: str = ""
