"""What must be true of kinks at a divergence, so that it is a known one.

In a sight the sides are in the order of a row's parties: where one is MindSpore's, it is the first.
"""

from explorer.compare.known.sight import Side, Sight
from explorer.compare.known.values import holds, repeated_greatest, ties
from explorer.model.families import squashed
from explorer.model.graph import Node

SPELLINGS = {
    "relu": "relu",
    "maximum": "maximum",
    "minimum": "maximum",
    "clamp": "clamp",
    "clampmin": "clamp",
    "clampscalar": "clamp",
    "amax": "greatest",
    "aten.max.default": "greatest",
    "reducemax": "greatest",
    "aten.max.dim": "greatest_with_index",
    "argmaxwithvalue": "greatest_with_index",
}
"""Operators with a kink, by the convention that their gradient follows there."""


def are_other_spellings(sight: Sight) -> bool:
    """The two ops follow other conventions at their kinks."""
    spelled = [it.forward and _spelling(it.forward) for it in sight.sides]
    return all(spelled) and len(set(spelled)) == 2


def _spelling(node: Node) -> str:
    return SPELLINGS.get(node.op) or SPELLINGS.get(squashed(node.op), "")


def are_at_one_kink(sight: Sight) -> bool:
    """What both ops read is somewhere exactly at a number where both have a kink."""
    ours, theirs = map(_kinks, sight.sides)
    return not ours.isdisjoint(theirs)


BOUNDS: dict[str, tuple[float, ...]] = {
    "relu": (0.0,),
    "relu6": (6.0,),
    "hswish": (-3.0, 3.0),
    "hardswish": (-3.0, 3.0),
}
"""Where operators have kinks at which some gradients differ."""


def _kinks(side: Side) -> set[float]:
    """The numbers that a side reads at which its op has a kink."""
    read = side.reads()
    if side.forward is None or not read:
        return set()
    name = squashed(side.forward.op)
    if _spelling(side.forward) == "maximum":
        return ties(*read) if len(read) == 2 else set()
    if _spelling(side.forward).startswith("greatest"):
        return repeated_greatest(read[0])
    bounds = BOUNDS.get(name, ())
    for argument in ("min", "max", "min_val", "max_val"):
        bound = side.argument(argument)
        if isinstance(bound, int | float):
            bounds += (float(bound),)
    return {bound for bound in bounds if holds(read[0], bound)}
