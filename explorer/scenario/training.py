"""What a scenario's file says of the training of its nets: optimizers, batches, scalers, schedules."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.engines import Framework
from explorer.model.errors import ScenarioError
from explorer.scenario.declaration import Declaration
from explorer.scenario.load import module_of
from explorer.text.language import _

Pass = dict[str, AnyArray]
"""The inputs of one forward and backward pass, by name."""


class Plan(NamedTuple):
    """How one net is trained.

    ``optimizer`` is called with the net, ``schedule`` with the optimizer, and ``scaler`` with nothing; None
    where the file does not define it. ``batches`` are the passes of each step, whose gradients are
    added up. ``clip_norm`` is the total norm to which gradients are clipped.
    """

    optimizer: Callable[[Any], Any] | None
    scaler: Callable[[], Any] | None
    schedule: Callable[[Any], Any] | None
    batches: Iterator[tuple[Pass, ...]]
    clip_norm: float | None


def plan_of(scenario: Declaration, framework: Framework, steps: int) -> Plan:
    """The training of a framework's net, of at most so many steps; raises ScenarioError."""
    names: Mapping[str, Any] = {} if scenario.is_of_api else vars(module_of(scenario))
    return Plan(
        optimizer=names.get(f"{framework}_optimizer"),
        scaler=names.get(f"{framework}_scaler"),
        schedule=names.get(f"{framework}_schedule"),
        batches=islice(_batches(scenario, names), steps),
        clip_norm=_clip_norm(scenario, names),
    )


def _clip_norm(scenario: Declaration, names: Mapping[str, Any]) -> float | None:
    given = names.get("CLIP_NORM")
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if given is None or (is_number and given > 0):
        return given
    text = _("{file}: CLIP_NORM must be a number above 0, got {given!r}")
    raise ScenarioError(text, file=scenario.place, given=given)


def _batches(scenario: Declaration, names: Mapping[str, Any]) -> Iterator[tuple[Pass, ...]]:
    """The passes of each step: those of batches(), or one with the inputs."""
    batches = names.get("batches")
    if batches is None:
        while True:
            yield (scenario.inputs(),)
    for batch in batches():
        passes = tuple(batch) if isinstance(batch, (list, tuple)) else (batch,)
        for arrays in passes:
            _check(scenario, arrays)
        yield passes


def _check(scenario: Declaration, arrays: Any) -> None:
    needed = list(scenario.inputs())
    is_dict = isinstance(arrays, dict) and list(arrays) == needed
    if is_dict and all(isinstance(array, np.ndarray) for array in arrays.values()):
        return
    text = _(
        "{file}: batches() must yield for each step a dict of numpy arrays by the names of inputs(), in"
        " their order, or a list of such dicts, whose gradients are added up; the names are {names}, got"
        " {given}"
    )
    given = ", ".join(map(str, arrays)) if isinstance(arrays, dict) else type(arrays).__name__
    raise ScenarioError(text, file=scenario.place, names=", ".join(needed), given=given)
