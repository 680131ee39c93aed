"""What each engine's call leaves in the state of a net, side by side."""

from collections.abc import Iterator, Mapping, Sequence

from explorer.compare.noise import EXACT, MINDSPORE_TABLE, TORCH_TABLE
from explorer.compare.results import within
from explorer.model.arrays import Array, unpack
from explorer.model.engines import engine_named
from explorer.model.state import StateChange, StateGroup, StateRow
from explorer.numeric.differences import real_dtype


def state_rows(state: Mapping[str, Sequence[StateChange]]) -> tuple[StateRow, ...]:
    """A row for each tensor that some engine changes; ``state`` has the changes by engine."""
    by_name: dict[str, dict[str, StateChange]] = {}
    for engine, changes in state.items():
        for change in changes:
            by_name.setdefault(change.name, {})[engine] = change
    return tuple(_row(name, changes, tuple(state)) for name, changes in by_name.items())


def _row(name: str, changes: dict[str, StateChange], engines: tuple[str, ...]) -> StateRow:
    before = next(iter(changes.values())).before
    frameworks = {_framework(engine) for engine in changes}
    groups: list[StateGroup] = []
    absent = []
    for engine in engines:
        if engine in changes:
            _join(groups, engine, changes[engine].after)
        elif _framework(engine) in frameworks:
            _join(groups, engine, before)
        else:
            absent.append(engine)
    return StateRow(name, before, tuple(groups), tuple(absent))


def _framework(engine: str) -> str:
    return engine_named(engine.partition("@")[0]).framework


def _join(groups: list[StateGroup], engine: str, after: Array) -> None:
    """Add an engine to the group that leaves what it leaves, or to one of its own."""
    for place, group in enumerate(groups):
        if _are_close(group.after, after):
            groups[place] = StateGroup((*group.engines, engine), group.after)
            return
    groups.append(StateGroup((engine,), after))


def _are_close(one: Array, other: Array) -> bool:
    if tuple(one.shape) != tuple(other.shape):
        return False
    left, right = unpack(one), unpack(other)
    return any(within(left, right, limits) for limits in _limits(one.dtype))


def _limits(dtype: str) -> Iterator[tuple[float, float]]:
    real = real_dtype(dtype)
    yield TORCH_TABLE.get(real, EXACT)
    yield MINDSPORE_TABLE.get(real, EXACT)
