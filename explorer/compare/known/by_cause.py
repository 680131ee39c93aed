"""What must be true of the cause of a divergence, so that it is a known one.

In a sight the sides are in the order of a row's parties: where one is MindSpore's, it is the first.
"""

from math import isclose

from explorer.compare.known.sight import CLOSE, Condition, Sight
from explorer.model.causes import FromLeaf, InsertOperator, Rewire


def the_other_way_round(name: str) -> Condition:
    """The cause is 1 minus the op's own value of an argument."""

    def is_so(sight: Sight) -> bool:
        changed = _changed(sight, (name,))
        return changed is not None and isclose(sum(changed), 1, rel_tol=CLOSE)

    return is_so


def one_is(first: float, second: float, *names: str) -> Condition:
    """The cause is an argument that is ``first`` in place of ``second``, or the other way round."""

    def is_so(sight: Sight) -> bool:
        changed = _changed(sight, names)
        if changed is None:
            return False
        return all(
            isclose(one, other, rel_tol=CLOSE)
            for one, other in zip(sorted(changed), sorted((first, second)), strict=True)
        )

    return is_so


def _changed(sight: Sight, names: tuple[str, ...]) -> tuple[float, float] | None:
    """The op's own value and the one that gives the other side's, where that is all that changes."""
    changed = sight.cause.changed if sight.cause else None
    if changed is None or len(changed.arguments) != 1:
        return None
    (name,) = changed.arguments
    own, other = changed.own.get(name), changed.arguments[name]
    if name not in names or not isinstance(own, float) or not isinstance(other, float):
        return None
    return own, other


def pads_one_end_more(sight: Sight) -> bool:
    """The cause is padding that is wider at one end, which MindSpore's mode "same" makes."""
    if sight.cause is None or sight.sides[0].argument("pad_mode") != "same":
        return False
    padded = [it for it in sight.cause.edits if isinstance(it, InsertOperator) and it.op == "pad"]
    return any(it.numbers[::2] != it.numbers[1::2] for it in padded)


def is_one_tensor(sight: Sight) -> bool:
    """The cause is that two inputs are one tensor."""
    sources = (
        [it.source for it in sight.cause.edits if isinstance(it, Rewire)] if sight.cause else []
    )
    return any(isinstance(it, FromLeaf) and it.is_one_tensor for it in sources)
