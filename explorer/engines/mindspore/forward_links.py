"""The forward node that each backward node of an IR program derives from.

The statements name it; data flow decides where they name several forward nodes or none.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from explorer.engines.capture.builder import GraphBuilder, NodeDraft, readers
from explorer.engines.mindspore.ir_statements import IRStatement
from explorer.engines.mindspore.source_lines import user_lines
from explorer.engines.source_lines import Line
from explorer.model.graph import Absence

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


Alternatives = dict[int, frozenset[int]]
"""The forward nodes whose gradient a sum may accumulate, by the number of the sum."""

LINKED_KINDS = frozenset({"op", "accumulate", "call"})
"""The kinds of backward nodes that derive from a forward node."""

# Inlining copies forward nodes. Which copy a backward node derives from is known by the nodes that
# it reads, each of which earns the copy some points: the more, the closer it is to the copy.

DIRECT = 8
"""Points for a node that is the copy itself, or derives from it."""

SHARED = 4
"""Points for a node that the copy reads too, or that derives from a reader of the copy."""

SIBLING = 2
"""Points for a gradient that another node reads which derives from what the copy reads."""

DISTANT = 1
"""Points for a node that derives from a reader of a reader of the copy.

Further readers count where those between hand their gradient on as it is.
"""

HANDS_GRADIENT_ON = frozenset({"Add", "AddExt", "BiasAdd", "Cast", "Reshape", "Sub", "SubExt"})
"""Operators whose gradient is the one that arrives: nothing in backward derives from them."""

MOST_HANDING_ON = 8
"""So many of them in a row are looked through."""

OTHER_LINE, LINE_NOT_KNOWN, SAME_LINE = 0, 1, 2
"""How the lines of a backward node and a copy compare, the likeliest last."""


GRADIENT_LAST = frozenset(
    {
        "AsinGrad",
        "AsinhGrad",
        "AcosGrad",
        "AcoshGrad",
        "AtanGrad",
        "LogSoftmaxGrad",
        "ReciprocalGrad",
        "RsqrtGrad",
        "SigmoidGrad",
        "SqrtGrad",
        "TanhGrad",
    }
)
"""Operators of backward that take the gradient behind what forward has kept (2.10.0)."""


class ForwardLinks:
    """Links the backward nodes of a graph once all of it has been walked.

    ``calls`` are the nodes that calls take, whose edges are not drawn yet.
    """

    def __init__(
        self, builder: GraphBuilder, identities: ForwardIdentities, calls: dict[int, list[int]]
    ) -> None:
        self._builder = builder
        self._nodes = builder.nodes
        self._identities = identities
        self._feeds = builder.feeds()
        for number, origins in calls.items():
            self._feeds[number] = origins + self._feeds.get(number, [])
        self._users = readers(self._feeds)
        self._by_scope = _by_scope(builder.nodes)
        self._chosen: dict[int, int] = {}
        self._links: Counter[tuple[int, str]] = Counter()
        self._alternatives: Alternatives = {}
        self._known_takers: dict[int, set[int]] = {}

    def settle(self) -> Alternatives:
        """Give every backward node its forward node, or the reason why it has none.

        Returns all nodes that the sums may accumulate the gradients of, where there are several.
        """
        numbers = [number for number, node in enumerate(self._nodes) if _is_linked(node)]
        for number in numbers:
            self._choose(number)
        # What reads a sum says more than its addends, once all others are linked. Readers come later.
        for number in reversed(numbers):
            if self._is_sum(number):
                self._choose_by_users(number)
        for number in numbers:
            self._write(number)
        return self._alternatives

    def _choose(self, number: int) -> None:
        find = self._of_sum if self._is_sum(number) else self._of_operator
        forward = find(number)
        if forward is not None:
            self._chosen[number] = forward
            self._links[forward, self._nodes[number].op] += 1

    def _choose_by_users(self, number: int) -> None:
        """Link a sum whose addends leave its node open: its readers derive from that node."""
        users = self._users.get(number, ())
        if number not in self._chosen:
            forward = self._latest_of_shape(number, self._origins_of(users))
        else:
            # A further sum may be that of another node, to which the gradient is handed on.
            operators = [user for user in users if not self._is_sum(user)]
            open_ = self._alternatives.get(number, frozenset())
            forward = max(open_ & self._origins_of(operators), default=None)
        if forward is not None:
            self._chosen[number] = forward

    # Operators

    def _of_operator(self, number: int) -> int | None:
        # Inlining copies a forward node with its identity: that copy counts whose tensors are used.
        copies = self._identities.copies(number)
        if copies:
            near = self._near(number).intersection(copies)
            related = [copy for copy in near if any(self._all_points(number, copy))]
            return max(related or copies, key=lambda copy: (*self._kinship(number, copy), copy))
        if self._identities.is_in_bprop(number):
            return self._identities.called_with(number)
        operator = self._identities.grad_scope(number)
        if operator is None:
            return None
        alike = self._by_scope.get((operator, self._nodes[number].scope), ())
        if len(alike) != 1:
            return None
        return alike[0]

    def _near(self, number: int) -> set[int]:
        """The nodes that may have points for their kinship to a backward node: few of a deep net."""
        near: set[int] = set()
        for origin in self._feeds.get(number, ()):
            near.add(origin)
            near.update(self._users.get(origin, ()))
            linked = self._chosen.get(origin, -1)
            near.add(linked)
            for feeder in self._feeds.get(linked, ()):
                near.add(feeder)
                near.update(self._feeds.get(feeder, ()))
            near |= self._takers(linked)
            for sibling in self._siblings(number, origin):
                near.update(self._users.get(sibling, ()))
        return near

    def _siblings(self, number: int, origin: int) -> set[int]:
        """What the other nodes that read the gradient of one derive from.

        The bias reads what the product makes whose gradients read the same.
        """
        if self._nodes[origin].phase != "backward":
            return set()
        users = [user for user in self._users.get(origin, ()) if user != number]
        return {self._chosen[user] for user in users if user in self._chosen}

    def _takers(self, linked: int) -> set[int]:
        """The nodes to which the gradient of a node's operands goes, as it is.

        They are the operands themselves, and those of operands that hand their gradient on.
        """
        if linked in self._known_takers:
            return self._known_takers[linked]
        takers = set(self._feeds.get(linked, ()))
        outermost = takers
        for _ in range(MOST_HANDING_ON):
            behind: set[int] = set()
            for number in outermost:
                if self._nodes[number].op in HANDS_GRADIENT_ON:
                    behind.update(self._feeds.get(number, ()))
            outermost = behind - takers
            if not outermost:
                break
            takers = takers | outermost
        self._known_takers[linked] = takers
        return takers

    def _all_points(self, number: int, copy: int) -> tuple[int, int]:
        return self._points(number, copy), self._further_points(number, copy)

    def _kinship(self, number: int, copy: int) -> tuple[int, ...]:
        """How closely a backward node is related to one of several copies of its forward node.

        The points for the nodes that it reads come first. Where they are equal, the copy counts that
        stands in the operand of the forward's result, since the gradient itself may be a copy; then a
        copy on its line of the net comes before those whose line is not known, and these before
        others; then the one that was chosen least often by backward nodes of the same operator.
        """
        node, other = self._nodes[number], self._nodes[copy]
        line = LINE_NOT_KNOWN
        if node.source and other.source:
            line = SAME_LINE if node.source[0] == other.source[0] else OTHER_LINE
        place = self._place(number, copy)
        return *self._all_points(number, copy), place, line, -self._links[copy, node.op]

    def _place(self, number: int, copy: int) -> int:
        """How far a copy is from the operand that takes the gradient of a backward node."""
        feeds = self._feeds.get(number, [])
        if copy not in feeds:
            return 0
        place = feeds.index(copy)
        if self._nodes[number].op in GRADIENT_LAST:
            return -place
        return place

    def _points(self, number: int, copy: int) -> int:
        """The points that the nodes which a backward node reads earn one of the copies."""
        identity = self._identities.reference(number).identity
        fed = self._feeds.get(copy, ())
        points = 0
        for origin in self._feeds.get(number, ()):
            linked = self._chosen.get(origin, -1)
            linked_fed = self._feeds.get(linked, ())
            same_group = self._identities.reference(origin).identity == identity
            if origin == copy:
                points += DIRECT
            if origin in fed:
                points += SHARED
            if linked == copy and (same_group or self._is_sum(origin)):
                points += DIRECT
            if copy in linked_fed:
                points += SHARED
            if any(copy in self._feeds.get(feeder, ()) for feeder in linked_fed):
                points += DISTANT
        return points

    def _further_points(self, number: int, copy: int) -> int:
        """The points that more distant relatives earn a copy, which decide between equals alone."""
        fed = set(self._feeds.get(copy, ()))
        points = 0
        for origin in self._feeds.get(number, ()):
            # What an op has made is read by one copy, a parameter by all.
            if origin in fed and self._nodes[origin].kind == "op":
                points += SHARED
            if not fed.isdisjoint(self._siblings(number, origin)):
                points += SIBLING
            if copy in self._takers(self._chosen.get(origin, -1)):
                points += DISTANT
        return points

    # Sums of gradients

    def _of_sum(self, number: int) -> int | None:
        """The node whose gradient a sum accumulates: it feeds the forward nodes of all addends."""
        # Of several nodes that feed all of them, the gradient's shape and the order decide.
        common: set[int] | None = None
        further: set[int] | None = None
        for origin in self._feeds.get(number, ()):
            linked = self._builder.forward_of(self._chosen.get(origin))
            if linked is None:
                continue
            reach = {linked} if self._is_sum(origin) else set(self._feeds.get(linked, ()))
            takers = reach if self._is_sum(origin) else self._takers(linked)
            common = reach if common is None else common & reach
            further = takers if further is None else further & takers
        return self._latest_of_shape(number, common or further or set())

    def _origins_of(self, numbers: Iterable[int]) -> set[int]:
        """The forward nodes that some nodes derive from."""
        origins = set()
        for number in numbers:
            linked = self._builder.forward_of(self._chosen.get(number))
            if linked is not None:
                origins.add(linked)
        return origins

    def _latest_of_shape(self, number: int, candidates: set[int]) -> int | None:
        """The last of some nodes that yields a tensor of the shape of node ``number``."""
        outputs = self._nodes[number].outputs
        shape = outputs[0].shape if outputs else ()
        fitting = [other for other in candidates if _yields(self._nodes[other], shape)]
        if len(fitting) > 1:
            self._alternatives[number] = frozenset(fitting)
        return max(fitting, default=None)

    def _is_sum(self, number: int) -> bool:
        return self._nodes[number].kind == "accumulate"

    # The drafts

    def _write(self, number: int) -> None:
        node = self._nodes[number]
        linked = self._builder.forward_of(self._chosen.get(number))
        if linked is None:
            node.missing["forward"] = self._why_unlinked(number)
            return
        forward = self._nodes[linked]
        node.forward = linked
        node.source = node.source or forward.source or self._source_of_feeds(number)
        if forward.kind == "op":
            # The compiler keeps one of equal nodes, with the scope of whichever it met first: the
            # forward node knows better, also where it is in no module (2.10.0).
            node.scope = forward.scope

    def _why_unlinked(self, number: int) -> Absence:
        operator = self._identities.reference(number).name.rpartition("_")[0]
        if operator:
            return Absence("removed", operator)
        return Absence("merged")

    def _source_of_feeds(self, number: int) -> tuple[str, ...]:
        for origin in self._feeds.get(number, ()):
            if self._nodes[origin].source:
                return self._nodes[origin].source
        return ()


def link_to_leaf(node: NodeDraft, leaf: int, alternatives: frozenset[int]) -> None:
    """Link a sum to the leaf whose gradient it is returned as, unless it has a forward node.

    Where it may have several, of which the leaf is one, it is the leaf.
    """
    if node.kind != "accumulate":
        return
    if node.forward is None or leaf in alternatives:
        node.forward = leaf
        node.missing.pop("forward", None)


def _is_linked(node: NodeDraft) -> bool:
    """Whether a node derives from a forward node."""
    return node.phase == "backward" and node.kind in LINKED_KINDS


def _yields(node: NodeDraft, shape: tuple[int, ...]) -> bool:
    return any(output.shape == shape for output in node.outputs)


def _by_scope(nodes: list[NodeDraft]) -> dict[tuple[str, str], list[int]]:
    """The forward nodes of each operator in each scope."""
    by_scope: dict[tuple[str, str], list[int]] = {}
    for number, node in enumerate(nodes):
        if node.phase == "forward":
            by_scope.setdefault((node.op, node.scope), []).append(number)
    return by_scope
