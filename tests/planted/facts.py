"""True statements of what is wrong with a net, and the short list of their kinds."""

import msgspec

FACT_KINDS = {
    "argument": "an argument of an operator has the first of two values instead of the second",
    "constant": "a number in the code is the first of two instead of the second",
    "factor": "a value is so many times the right one",
    "offset": "a number is added to a value, or is missing",
    "other op": "another operator is called where this one is right",
    "op left out": "this operator is not called",
    "op added": "this operator is called and should not be",
    "axis": "an operator works along the first axis instead of the second",
    "order of inputs": "an operator gets its inputs, or results are named, in another order",
    "order of ops": "two operators are called in the opposite order",
    "other input": "an operator reads another value than it should",
    "layout": "elements are at other places: axes are not moved, or moved otherwise",
    "rows in another order": "rows, channels, columns or members of a list are in another order",
    "bias": "a bias is missing",
    "tied weight": "two uses of a weight that should be one have two, or the reverse",
    "stopped gradient": "a gradient is stopped that should pass, or passes and should be stopped",
    "cast": "values are rounded to a narrower type on the way",
    "mask": "elements are masked, or left unmasked, that should not be",
    "padding": "the border is filled at other places or with other values",
    "shift": "positions are moved by some places",
    "start": "a state starts at another value",
    "state": "running statistics are updated otherwise",
    "mode": "a layer runs as in evaluation, or as in training",
    "steps": "a loop does fewer or more steps, or takes them in another order",
}
"""What each kind of fact states."""


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One true statement of the cause of a difference.

    ``kind`` is a key of ``FACT_KINDS``. ``argument`` and ``op`` are names as the code of either net
    has them; of ``values`` and ``axes`` the first is the mistaken one and the second the right one.
    A ``factor`` is the mistaken value divided by the right one. ``leaf`` is the parameter concerned,
    by its name in PyTorch, and ``line`` a text from the line that should be read, or is read wrongly.
    """

    kind: str
    argument: str = ""
    values: tuple[object, ...] = ()
    op: str = ""
    factor: float | None = None
    leaf: str = ""
    axes: tuple[int, ...] = ()
    line: str = ""
