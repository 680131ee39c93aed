"""Measurements that several test modules look at, each made once a session."""

from collections.abc import Iterable

import msgspec

from explorer.model.measurement import Measured, Measurement
from explorer.topics.measuring import measure
from explorer.workers.workers import Workers

_known: dict[bytes, Measured] = {}


def once(workers: Workers, wanted: Iterable[Measurement]) -> dict[str, Measured]:
    """The outcomes by name; what was measured before in this session is not measured again."""
    asked = tuple(wanted)
    fresh = {each.name: each for each in asked if _key(each) not in _known}
    remember(fresh.values(), measure(fresh.values(), workers))
    return {each.name: _known[_key(each)] for each in asked}


def remember(measurements: Iterable[Measurement], found: dict[str, Measured]) -> None:
    """Keep what was measured elsewhere, for those who ask for it later."""
    _known.update({_key(each): found[each.name] for each in measurements})


def _key(each: Measurement) -> bytes:
    return msgspec.msgpack.encode(each)
