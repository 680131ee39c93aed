"""The forward nodes that the statements of an IR program name for its backward nodes."""

import re
from typing import NamedTuple

from explorer.engines.capture.builder import NodeDraft
from explorer.engines.mindspore.ir_statements import IRStatement
from explorer.engines.mindspore.source_lines import user_lines
from explorer.engines.source_lines import Line

GRAD_SCOPE = re.compile(r"Grad_(\w+)")
"""The part of a backward node's scope that names the operator which it derives from (2.10.0)."""

CLOSURE = re.compile(r"([▸◂])(\d+)_")
"""The mark of a forward closure or its backpropagator, and the number that both carry (2.10.0)."""


class ForwardReference(NamedTuple):
    """The forward node that a backward node names.

    ``name`` is "MatMul_6903" or the like, empty where the IR gives the identity alone.
    """

    identity: str
    name: str = ""


NO_REFERENCE = ForwardReference("")


class ForwardIdentities:
    """The identities that forward nodes carry, and those that backward nodes name.

    A ``unique_id`` is that of one forward node until inlining copies it (2.10.0).
    """

    def __init__(self) -> None:
        self._carriers: dict[str, list[int]] = {}
        self._references: dict[int, ForwardReference] = {}
        self._grad_scopes: dict[int, str] = {}
        self._forward_callers: dict[tuple[Line, ...], int] = {}
        self._bprop_callers: dict[int, tuple[Line, ...]] = {}

    # While the program is walked

    def note(self, number: int, node: NodeDraft, statement: IRStatement) -> None:
        """Remember what the statement of node ``number`` says."""
        if statement.node.unique_id is not None:
            self._carry(statement.node.unique_id, number)
        if node.kind == "call":
            self._note_closures(number, statement)
        if statement.twin and not statement.recomputes:
            self._carry(statement.twin, number)
        if node.phase == "backward":
            self._note_backward(number, statement)
        elif node.kind == "op":
            # A bprop is called from a line around the operators of its Cell, so every prefix of
            # the calls that lead to one of them may be met again.
            callers = user_lines(statement.lines)
            for depth in range(1, len(callers)):
                self._forward_callers[callers[:depth]] = number

    def _note_backward(self, number: int, statement: IRStatement) -> None:
        """Remember the most exact of the things that a backward statement says."""
        grad_scopes = GRAD_SCOPE.findall(statement.full_name)
        if statement.recomputes:
            self._references[number] = ForwardReference(statement.twin)
        elif statement.node.forward_unique_id is not None:
            name = statement.node.forward_node_name or ""
            self._references[number] = ForwardReference(statement.node.forward_unique_id, name)
        elif grad_scopes:
            self._grad_scopes[number] = grad_scopes[-1]
        elif statement.in_bprop:
            self._bprop_callers[number] = user_lines(statement.lines)

    def _note_closures(self, number: int, statement: IRStatement) -> None:
        """A call into backpropagators derives from the call into their forward closures."""
        for name in statement.called:
            for mark, closure in CLOSURE.findall(name):
                if mark == "▸":
                    self._carry(f"▸{closure}", number)
                else:
                    self._references[number] = ForwardReference(f"▸{closure}")

    def _carry(self, identity: str, number: int) -> None:
        self._carriers.setdefault(identity, []).append(number)

    # When it has been walked

    def reference(self, number: int) -> ForwardReference:
        """The forward node that a backward node names; its identity is "" where it names none."""
        return self._references.get(number, NO_REFERENCE)

    def copies(self, number: int) -> list[int]:
        """The other nodes that carry the identity which a backward node names."""
        carriers = self._carriers.get(self.reference(number).identity, ())
        return [copy for copy in carriers if copy != number]

    def grad_scope(self, number: int) -> str | None:
        """The operator that the scope of a backward node names."""
        return self._grad_scopes.get(number)

    def is_in_bprop(self, number: int) -> bool:
        """Whether a node was written in a ``bprop`` of the user's, and says nothing better."""
        return number in self._bprop_callers

    def called_with(self, number: int) -> int | None:
        """The last forward node that was called from the same line as the ``bprop`` of a node.

        Where there is none, the nearest line around it counts.
        """
        callers = self._bprop_callers[number]
        for depth in range(len(callers), 0, -1):
            if callers[:depth] in self._forward_callers:
                return self._forward_callers[callers[:depth]]
        return None
