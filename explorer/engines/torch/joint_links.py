"""Links from the backward nodes of a joint graph to the forward nodes that they derive from."""

from typing import Any

from explorer.engines.source_lines import Line
from explorer.engines.torch.joint_part import JointPart, is_accumulation, lines
from explorer.engines.torch.source_lines import kind_of_file


class JointLinks:
    """The forward nodes of a joint graph by what ties backward nodes to them.

    AOTAutograd gives a backward node the sequence number of the forward operator that it
    differentiates (``seq_nr``); a node of a backward written by hand has the line from which the
    custom function was called.
    """

    def __init__(self, part: JointPart) -> None:
        self._part = part
        self._by_sequence: dict[int, Any] = {}
        self._by_call: dict[tuple[Line, ...], Any] = {}
        for node in part.nodes:
            if node.op != "call_function" or part.phases[node] != "forward":
                continue
            if "seq_nr" in node.meta:
                self._by_sequence.setdefault(node.meta["seq_nr"], node)
            # All stacks around the operator's own line; of several operators the last one counts.
            callers = _user_lines(node)
            for depth in range(1, len(callers)):
                self._by_call[callers[depth:]] = node

    def origin(self, node: Any) -> Any:
        """The forward fx node that a backward one derives from, or None.

        A node that has no origin of its own derives from what its consumer derives from; the last
        consumer is the gradient with respect to a leaf, and derives from that leaf.
        """
        while node is not None and self._part.phases[node] == "backward":
            origin = self._own_origin(node)
            if origin is None:
                origin = self._leaf_of_gradient(node)
            if origin is not None:
                return origin
            users = [user for user in node.users if user in self._part.phases]
            node = users[0] if users else None
        return None

    def _own_origin(self, node: Any) -> Any:
        if is_accumulation(node):
            return None
        if self._part.is_by_hand(node):
            return self._called_with(node)
        return self._by_sequence.get(node.meta.get("seq_nr"))

    def _called_with(self, node: Any) -> Any:
        """The last forward node called from the same line as a backward written by hand.

        Where there is none, it is one that was called from a line further out.
        """
        callers = _user_lines(node)
        for depth in range(len(callers)):
            if callers[depth:] in self._by_call:
                return self._by_call[callers[depth:]]
        return None

    def _leaf_of_gradient(self, node: Any) -> Any:
        """The leaf that ``node`` is the gradient with respect to, if it is one."""
        part = self._part
        for (kind, key), end in zip(part.joint.outputs, part.ends, strict=True):
            if kind == "gradient" and end is node:
                return part.leaves.get(part.leaf_name(key))
        return None


def _user_lines(node: Any) -> tuple[Line, ...]:
    """The user's lines on the way to a node, innermost first."""
    return tuple(line for line in lines(node) if kind_of_file(line[0]) == "user")
