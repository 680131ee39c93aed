"""The roles of what a joint graph takes and returns."""

from typing import Any, NamedTuple

JointRole = tuple[str, Any]
"""The role of a placeholder or a result of a joint graph.

("parameter", name), ("input", index), ("tangent", index of output), ("unseeded", ""), which is
the tangent of what the net writes to a leaf that needs a gradient, ("output", index),
("gradient", name or index), ("state", name of a changed buffer) or ("other", ""). A parameter that
a net holds under several names has a placeholder for each, of which one is read: the others are
("twin", name). Operators with an effect, such as the check of ``torch.linalg.solve`` for errors, are kept in
order by tokens: ("forward token", "") is what those of the forward take, and ("backward token", "") of
backward.
"""

TANGENTS = frozenset({"tangent", "unseeded", "backward token"})
"""The placeholders that backward starts from."""


class Derived(NamedTuple):
    """A joint graph as a module, with the roles of its placeholders and of its results in order."""

    module: Any
    inputs: tuple[JointRole, ...]
    outputs: tuple[JointRole, ...]
