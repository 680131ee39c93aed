"""Which forward node each backward node of MindSpore's IR derives from."""

import re
from collections.abc import Iterable

from explorer.engines.mindspore.draft import Draft
from explorer.engines.mindspore.ir_statements import Place, Statement
from explorer.engines.mindspore.source_lines import place

MERGED = "the compiler merged this node from several and dropped which forward node it derives from"
REMOVED = "the compiler removed the forward node {}: nothing needs its value"


class Links:
    """Collects what the IR says while a draft grows, and settles it at the end.

    A ``unique_id`` names a forward node, but inlining copies it: of several copies that one counts
    whose tensors are used.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.named: dict[str, list[int]] = {}
        self.wanted: dict[int, tuple[str, str]] = {}
        self.inside: dict[int, str] = {}
        self.called: dict[tuple[Place, ...], int] = {}
        self.by_hand: dict[int, tuple[Place, ...]] = {}
        self.taken: dict[tuple[int, str], int] = {}

    def note(self, number: int, statement: Statement) -> None:
        """Remember the identities that a statement carries."""
        node, written = self.draft.nodes[number], statement.node
        if written.unique_id is not None:
            self.named.setdefault(written.unique_id, []).append(number)
        if node.kind == "call":
            self._called(number, statement)
        if statement.twin and not statement.duplicate:
            self.named.setdefault(statement.twin, []).append(number)
        if node.phase == "backward":
            if statement.duplicate:
                self.wanted[number] = (statement.twin, "")
            elif written.forward_unique_id is not None:
                self.wanted[number] = (written.forward_unique_id, written.forward_node_name or "")
            elif found := re.findall(r"Grad_(\w+)", statement.scope):
                self.inside[number] = found[-1]
            elif statement.by_hand:
                self.by_hand[number] = _callers(statement.places)
        elif node.kind == "op":
            callers = _callers(statement.places)
            self.called |= {callers[:depth]: number for depth in range(1, len(callers))}

    def _called(self, number: int, statement: Statement) -> None:
        """A call into backward graphs derives from the call into their forward graphs, which carry
        the same numbers.
        """
        for mark, branch in re.findall(r"([▸◂])(\d+)_", " ".join(statement.called)):
            if mark == "▸":
                self.named.setdefault(f"▸{branch}", []).append(number)
            else:
                self.wanted[number] = (f"▸{branch}", "")

    def settle(self, calls: Iterable[tuple[int, list[int]]] = ()) -> None:
        """Give every backward node its forward node, or the reason why it has none; ``calls`` are
        nodes with what they read.
        """
        feeds = dict(calls)
        for origin, _, target, _ in self.draft.edges:
            feeds.setdefault(target, []).append(origin)
        chosen: dict[int, int] = {}
        for number, node in enumerate(self.draft.nodes):
            if node.phase != "backward" or node.kind not in {"op", "accumulate", "call"}:
                continue
            found = (
                self._summed(number, feeds, chosen)
                if node.kind == "accumulate"
                else self._derived(number, feeds, chosen)
            )
            if found is not None:
                chosen[number] = found
                self.taken[found, node.op] = self.taken.get((found, node.op), 0) + 1
        users = self._users(feeds)
        for number, node in enumerate(self.draft.nodes):
            if node.phase != "backward" or node.kind not in {"op", "accumulate", "call"}:
                continue
            if (
                number not in chosen
                and self._sums(number)
                and (found := self._arriving(number, users, chosen)) is not None
            ):
                chosen[number] = found
            self._write(number, chosen.get(number), feeds)

    def leaf(self, number: int, leaf: int) -> None:
        """A sum that is returned as a leaf's gradient, and is linked to nothing yet, derives from
        that leaf.
        """
        node = self.draft.nodes[number]
        if node.forward is None and self._sums(number):
            missing = {key: reason for key, reason in node.missing.items() if key != "forward"}
            self.draft.change(number, forward=f"n{leaf}", missing=missing)

    def _write(self, number: int, found: int | None, feeds: dict[int, list[int]]) -> None:
        node = self.draft.nodes[number]
        linked = self.draft.forward_of(found)
        if linked is None:
            name = self.wanted.get(number, ("", ""))[1].rpartition("_")[0]
            self.draft.change(
                number,
                missing={**node.missing, "forward": REMOVED.format(name) if name else MERGED},
            )
            return
        source = node.source or self.draft.nodes[linked].source
        if not source:
            source = next(
                (
                    self.draft.nodes[origin].source
                    for origin in feeds.get(number, ())
                    if self.draft.nodes[origin].source
                ),
                (),
            )
        # The compiler keeps one of equal nodes, with the scope of whichever it met first: the
        # forward node knows better.
        scope = (
            self.draft.nodes[linked].scope if self.draft.nodes[linked].kind == "op" else ""
        ) or node.scope
        self.draft.change(number, forward=f"n{linked}", source=source, scope=scope)

    def _derived(
        self, number: int, feeds: dict[int, list[int]], chosen: dict[int, int]
    ) -> int | None:
        identity = self.wanted.get(number, ("", ""))[0]
        copies = [copy for copy in self.named.get(identity, ()) if copy != number]
        if not copies:
            return (
                self._called_with(number)
                if number in self.by_hand
                else self._by_scope(number, feeds, chosen)
            )
        return max(
            copies, key=lambda copy: (self._kinship(number, copy, identity, feeds, chosen), copy)
        )

    def _kinship(
        self,
        number: int,
        copy: int,
        identity: str,
        feeds: dict[int, list[int]],
        chosen: dict[int, int],
    ) -> tuple[int, int]:
        """How much of a copy a backward node uses: itself, what it was fed with, and what others of
        its group were linked to.
        """
        shared = 0
        for origin in feeds.get(number, ()):
            above = chosen.get(origin, -1)
            user = feeds.get(above, ())
            shared += 8 * (origin == copy) + 4 * (origin in feeds.get(copy, ()))
            shared += 8 * (
                above == copy
                and (self.wanted.get(origin, ("",))[0] == identity or self._sums(origin))
            )
            shared += 4 * (copy in user) + any(copy in feeds.get(each, ()) for each in user)
        taken = self.taken.get((copy, self.draft.nodes[number].op), 0)
        return shared, -taken

    def _called_with(self, number: int) -> int | None:
        """The last forward node that was called from the same line as a backward written by hand,
        or from around it.
        """
        callers = self.by_hand[number]
        outwards = (callers[:depth] for depth in range(len(callers), 0, -1))
        return next((self.called[line] for line in outwards if line in self.called), None)

    def _by_scope(
        self, number: int, feeds: dict[int, list[int]], chosen: dict[int, int]
    ) -> int | None:
        node, op = self.draft.nodes[number], self.inside.get(number)
        alike = [
            n
            for n, other in enumerate(self.draft.nodes)
            if (other.phase, other.op, other.scope) == ("forward", op, node.scope)
        ]
        return alike[0] if len(alike) == 1 else None

    def _summed(
        self, number: int, feeds: dict[int, list[int]], chosen: dict[int, int]
    ) -> int | None:
        """The tensor whose gradient is accumulated: what the forward nodes of all summands were fed
        with.
        """
        common: set[int] | None = None
        for origin in feeds.get(number, ()):
            linked = self.draft.forward_of(chosen.get(origin))
            if linked is None:
                continue
            reach = (
                {linked}
                if self.draft.nodes[origin].kind == "accumulate"
                else set(feeds.get(linked, ()))
            )
            common = reach if common is None else common & reach
        shape = (
            self.draft.nodes[number].outputs[0].shape if self.draft.nodes[number].outputs else ()
        )
        fitting = [
            n
            for n in sorted(common or ())
            if any(out.shape == shape for out in self.draft.nodes[n].outputs)
        ]
        return fitting[-1] if fitting else None

    def _users(self, feeds: dict[int, list[int]]) -> dict[int, list[int]]:
        users: dict[int, list[int]] = {}
        for target, origins in feeds.items():
            for origin in origins:
                users.setdefault(origin, []).append(target)
        return users

    def _arriving(
        self, number: int, users: dict[int, list[int]], chosen: dict[int, int]
    ) -> int | None:
        """The tensor whose gradient is accumulated, told by who takes the sum: backward nodes of
        what made it.
        """
        shape = (
            self.draft.nodes[number].outputs[0].shape if self.draft.nodes[number].outputs else ()
        )
        takers = [self.draft.forward_of(chosen.get(user)) for user in users.get(number, ())]
        fitting = [
            n
            for n in takers
            if n is not None and any(out.shape == shape for out in self.draft.nodes[n].outputs)
        ]
        return max(fitting, default=None)

    def _sums(self, number: int) -> bool:
        return self.draft.nodes[number].kind == "accumulate"


def _callers(places: tuple[Place, ...]) -> tuple[Place, ...]:
    """The user's lines on the way to a node, outermost first, each once."""
    shown = ((each, *place(each[0])) for each in places)
    return tuple(dict.fromkeys(each for each, name, foreign in shown if name and not foreign))
