"""Source lines for nodes to which the framework gives none, taken from their neighbours."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from explorer.model.absences import Absence, LineGap
from explorer.model.places import is_users

COMPUTING = frozenset({"op", "call", "accumulate"})
"""The kinds of nodes that stand on a line of the net."""


class Located(Protocol):
    """What is read of a node; the fields are those of a NodeDraft."""

    @property
    def kind(self) -> str:
        """The kind of the node."""

    @property
    def phase(self) -> str:
        """Its phase."""

    @property
    def source(self) -> tuple[str, ...]:
        """Its own lines."""

    @property
    def forward(self) -> int | None:
        """The number of its forward node."""

    @property
    def missing(self) -> dict[str, Absence]:
        """What is missing of it, and why."""


class Borrowed:
    """The lines of all nodes by number, own and borrowed.

    ``nodes`` are all nodes, ``kept`` the numbers of those that count, ``feeds`` yields the nodes
    that each reads. A sum of gradients takes the first line of every gradient that it adds: no line
    of a net computes a sum. Of the others a node takes, where it has no line of its own, that of a
    gradient of it, of its forward node, or of the nodes that it reads and that read it.
    """

    def __init__(
        self,
        nodes: Sequence[Located],
        kept: Iterable[int],
        feeds: Callable[[], Mapping[int, Sequence[int]]],
    ) -> None:
        self._reasons: dict[int, LineGap] = {}
        self._nodes = nodes
        self._lines: dict[int, tuple[str, ...]] = {}
        computing = []
        self._bare: list[int] = []
        for number in kept:
            if nodes[number].kind in COMPUTING:
                computing.append(number)
                if self._lacks_line(number):
                    self._bare.append(number)
        if not self._bare:
            return
        # Followed only here: most graphs have a line for every node.
        self._feeds = feeds()
        self._users = readers(self._feeds)
        self._derived = _derived(nodes, computing)
        self._sum_up()
        self._take(self._of_derived, "line_of_gradient")
        self._take(self._of_forward, "line_of_forward")
        # Twice, so that a line also travels against the order of the nodes.
        self._take(self._of_neighbours, "line_of_neighbour")
        self._bare.reverse()
        self._take(self._of_neighbours, "line_of_neighbour")

    def lines(self, number: int) -> tuple[str, ...]:
        """The lines of a node, a user's first."""
        return self._lines.get(number, self._nodes[number].source)

    def missing(self, number: int) -> dict[str, Absence]:
        """What is missing of a node, and why; "source" where its line is borrowed."""
        missing = dict(self._nodes[number].missing)
        if number in self._reasons:
            missing["source"] = Absence(self._reasons[number])
        elif number in self._lines:
            missing.pop("source", None)
        return missing

    def _lacks_line(self, number: int) -> bool:
        node = self._nodes[number]
        is_explained = "source" in node.missing and node.kind != "accumulate"
        return self._line(number) is None and not is_explained

    def _line(self, number: int) -> str | None:
        """The innermost line of the user's code that a node is on."""
        for line in self.lines(number):
            if is_users(line):
                return line
        return None

    def _sum_up(self) -> None:
        """Give sums of gradients the lines of their addends, first addend first."""
        for number in self._bare:
            if self._nodes[number].kind == "accumulate" and not self._nodes[number].source:
                lines: dict[str, None] = {}
                for addend in self._feeds.get(number, ()):
                    lines.update(dict.fromkeys(self.lines(addend)[:1]))
                if lines:
                    self._lines[number] = tuple(lines)

    def _take(self, find: Callable[[int], str | None], reason: LineGap) -> None:
        for number in self._bare:
            if self._line(number) is not None:
                continue
            line = find(number)
            if line is not None:
                self._lines[number] = (line, *self._nodes[number].source)
                self._reasons[number] = reason

    def _of_derived(self, number: int) -> str | None:
        return self._first_line(self._derived.get(number, ()))

    def _of_forward(self, number: int) -> str | None:
        forward = self._nodes[number].forward
        return None if forward is None else self._line(forward)

    def _of_neighbours(self, number: int) -> str | None:
        """A line that what a node reads and what reads it share, else the one of what it reads."""
        before = self._lines_beside(number, self._feeds)
        after = self._lines_beside(number, self._users)
        for line in before:
            if line in after:
                return line
        return next(iter([*before, *after]), None)

    def _lines_beside(self, number: int, beside: Mapping[int, Sequence[int]]) -> list[str]:
        phase = self._nodes[number].phase
        lines = []
        for neighbour in beside.get(number, ()):
            line = self._line(neighbour)
            if line is not None and self._nodes[neighbour].phase == phase:
                lines.append(line)
        return lines

    def _first_line(self, numbers: Iterable[int]) -> str | None:
        for number in numbers:
            line = self._line(number)
            if line is not None:
                return line
        return None


def readers(feeds: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """The nodes that read each node, of the nodes that each reads."""
    of_each: dict[int, list[int]] = {}
    for target, origins in feeds.items():
        for origin in origins:
            of_each.setdefault(origin, []).append(target)
    return of_each


def _derived(nodes: Sequence[Located], numbers: Iterable[int]) -> dict[int, list[int]]:
    """The backward nodes that derive from each forward node."""
    derived: dict[int, list[int]] = {}
    for number in numbers:
        forward = nodes[number].forward
        if forward is not None:
            derived.setdefault(forward, []).append(number)
    return derived
