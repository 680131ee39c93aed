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
