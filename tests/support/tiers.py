"""Which tests a run takes, in which order, and how long each unit of them took when it was recorded.

A unit is what one process runs (tests/support/work_units.py). The longest go first, so that both
processes end at about the same time; of several shards each gets units of about the same length.
"""

import json
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

DURATIONS = Path(__file__).parent.parent / "durations.json"
"""Seconds of each unit on two cores, without replies of workers: `make durations` writes it."""

Tier = Literal["test", "whole"]
"""What is run: samples, or all. (What is quick needs no order.)"""

LEAST = 0.5
"""Seconds below which a unit is not recorded, nor waited for."""

QUICK_SECONDS = 0.3
"""Seconds of the processor that a test of the quick tier may take, where the yardstick takes its own."""

YARDSTICK_SECONDS = 0.003
"""What the yardstick takes in Python 3.11 on a machine that does nothing else."""


class Shard(NamedTuple):
    """One of several parts of a run: the ``number``-th, from 1, of ``total``."""

    number: int
    total: int


def shard_of(text: str) -> Shard:
    """The shard that an option names: "1/3". Raises ValueError, which says what is allowed."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"a shard is written NUMBER/COUNT, as in 1/3; got {text!r}")
    return Shard(int(match[1]), int(match[2]))


def recorded(tier: Tier, path: Path = DURATIONS) -> dict[str, float]:
    """The recorded seconds of a tier's units; none where nothing was recorded."""
    return _all(path).get(tier, {})


def record(tier: Tier, seconds: Mapping[str, float], path: Path = DURATIONS) -> None:
    """Write the seconds of a tier's units, of those that take a while."""
    kept = {unit: round(took, 1) for unit, took in sorted(seconds.items()) if took >= LEAST}
    tiers = dict(sorted({**_all(path), tier: kept}.items()))
    path.write_text(json.dumps(tiers, indent=1) + "\n", encoding="utf-8")


def _all(path: Path) -> dict[str, dict[str, float]]:
    if not path.exists():
        return {}
    tiers: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    return tiers


def slowness() -> float:
    """How many times longer than there Python takes here and now, 1 at least.

    A processor that others use too, and Python 3.10, take twice as long for the same.
    """
    return max(1.0, median(_yardstick() for _ in range(15)) / YARDSTICK_SECONDS)


def _yardstick() -> float:
    """The processor's seconds of a piece of work that is always the same."""
    began = time.process_time()
    places = {}
    for number in range(20_000):
        places[str(number)] = number
    return time.process_time() - began


def in_order(units: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """Each unit once, the longest first; those of one length as they come."""
    return sorted(dict.fromkeys(units), key=lambda unit: -seconds.get(unit, 0.0))


def units_of(shard: Shard, units: Iterable[str], seconds: Mapping[str, float]) -> set[str]:
    """The units of one shard; each goes to the shard that has least to do by then."""
    loads = [0.0] * shard.total
    chosen = set()
    for unit in in_order(sorted(set(units)), seconds):
        place = loads.index(min(loads))
        loads[place] += seconds.get(unit, LEAST / 2)
        if place == shard.number - 1:
            chosen.add(unit)
    return chosen
