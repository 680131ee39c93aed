"""What a small program is asked that runs in a worker, and the plain figures that it leaves."""

from typing import Any

import msgspec

from explorer.model.engines import Kind
from explorer.model.graph import GradGraph
from explorer.model.results import Failure, Outcome

Figures = dict[str, Any]
"""What was measured, by name: numbers, strings, booleans, None, and lists and dicts of them.

Numbers that are not finite are spelt as strings ("NaN", "Infinity", "-Infinity"), since they must
survive strict JSON.
"""


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One program to run in the worker of ``kind``: ``target`` is "module:function", a function
    from Ask to Found.

    ``name`` is what records call it by: "loss-scale.guide_example.mindspore-tape".
    """

    name: str
    kind: Kind
    target: str
    scenario: str = ""
    device: str = "cpu"
    options: dict[str, Any] = {}


class Ask(msgspec.Struct, frozen=True):
    """What a measuring function is given: a scenario's file (or ""), the device, and the
    measurement's own options.
    """

    scenario: str = ""
    device: str = "cpu"
    options: dict[str, Any] = {}


class Found(msgspec.Struct, frozen=True):
    """What a measuring function returns.

    ``figures`` are the same at every run, ``timings``, in seconds, are not; ``graphs`` are gradient
    graphs that it captured.
    """

    figures: Figures
    timings: dict[str, float] = {}
    graphs: tuple[GradGraph, ...] = ()


class Measured(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A measurement's outcome: what was found, or why nothing was; ``code`` is the source of the
    function that ran.
    """

    outcome: Outcome
    figures: Figures = {}
    timings: dict[str, float] = {}
    graphs: tuple[GradGraph, ...] = ()
    error: Failure | None = None
    code: str = ""
