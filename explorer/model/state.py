"""State of a net that a call changes: running statistics, counters, other buffers."""

import msgspec

from explorer.model.arrays import Array


class StateChange(msgspec.Struct, frozen=True):
    """A tensor that is not trained and that one call has changed, as laid out in PyTorch.

    ``before`` are its values when the call begins, ``after`` those when the whole call has ended:
    a block that backward computes again may have written to it once more.
    """

    name: str
    before: Array
    after: Array


class StateGroup(msgspec.Struct, frozen=True):
    """Engines whose calls leave the same values in a tensor."""

    engines: tuple[str, ...]
    after: Array


class StateRow(msgspec.Struct, frozen=True):
    """One tensor of the state, and what the engines leave in it.

    ``absent`` are engines of a framework none of whose engines changes it: its net may not have it.
    """

    name: str
    before: Array
    groups: tuple[StateGroup, ...]
    absent: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether two engines leave different values."""
        return len(self.groups) > 1
