"""What a recorded step says in whichever framework: where it ran, and what it lacks."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.engines.step_limits import MEGABYTE
from explorer.model.failures import Failure
from explorer.model.graph import GradGraph
from explorer.model.results import Leaf
from explorer.model.state import StateChange
from explorer.model.trace import Missing, Start, Trace, fault


def by_prefix(model: Any) -> Mapping[str, Any]:
    """The nets of a step by the prefixes of their names: those given so, or one without a prefix."""
    if isinstance(model, Mapping):
        return model
    return {"": model} if model is not None else {}


def versions_with(packages: Mapping[str, str]) -> dict[str, str]:
    """The versions of what a step depends on: Python's, some packages', and numpy's."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, **packages, "numpy": np.__version__}


def gaps(
    failed: Exception | None, raised: BaseException | None, full_at: int | None
) -> Iterator[Missing]:
    """What a step lacks because recording ``failed``, the step ``raised``, or so many bytes were full."""
    if failed is not None:
        yield fault(failed)
    if raised is not None:
        yield Missing("raised", error=Failure(type(raised).__name__, str(raised)))
    if full_at is not None:
        yield Missing("memory", str(full_at // MEGABYTE))


@dataclass
class Kept:
    """What is read of a step that was recorded, one after the other."""

    graph: GradGraph | None = None
    results: tuple[Leaf, ...] = ()
    state: tuple[StateChange, ...] = ()
    start: tuple[Start, ...] = ()


def trace_of(read: Callable[[Kept], None], missing: Iterable[Missing], **facts: Any) -> Trace:
    """The trace of a step: what ``read`` reads of it, until it fails, and facts of the step."""
    kept, lacking = Kept(), list(missing)
    try:
        read(kept)
    except Exception as error:
        lacking.append(fault(error))
    return Trace(
        graph=kept.graph,
        results=kept.results,
        state=kept.state,
        start=kept.start,
        missing=tuple(lacking),
        **facts,
    )
