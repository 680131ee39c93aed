"""Subgraphs of MindSpore's IR where they are called: what goes in, what comes out, and names that a
reader understands.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from explorer.engines.mindspore.draft import Draft, Slot
from explorer.engines.mindspore.ir.records import GraphRef
from explorer.engines.mindspore.ir_statements import DEFINITIONS, Statement
from explorer.model.graph import Node

MARKS: Final = {
    "✓": "true branch", "✗": "false branch", "↰": "true branch", "↱": "false branch", "↓": "afterwards", "↵": "loop",
    "↻": "loop body",
}  # fmt: skip
"""What MindSpore 2.10.0 puts before the name of a function that it made of a piece of one."""

NAME: Final = re.compile(
    r"^(?:\d+_)*(?P<back>[▸◂]?)(?:\d+_)?\d*(?P<mark>[✓✗↰↱↓↵↻]?)[✓✗↰↱↓↵↻\d]*(?P<name>.*?)(?:_\d+)?$"
)
BRANCH: Final = re.compile(r"[▸◂](\d+_\d*[✓✗↰↱↓↵↻]+)")

LONGEST: Final = 44
"""A condition with more characters is told by its line instead."""

HANDED_ON: Final = frozenset({"Partial", "Switch", "switch", "call", "Return", "MakeTuple"})
"""Operators that take a function without being able to call it themselves, or whose own calls are
listed.
"""

BACKWARD: Final = ", backward"


class Call(NamedTuple):
    """A call: the subgraphs that it may enter, the values that decide on one, and those that it
    hands over.
    """

    called: tuple[str, ...]
    decides: tuple[Slot, ...]
    takes: tuple[Slot, ...]


@dataclass(frozen=True)
class Captured:
    """A function value: the slots that it has closed over."""

    slots: tuple[Slot, ...]


class Calls:
    """Knows which subgraphs one call alone enters: these stand in the graph as what they are, fed
    by what goes in there.

    A function that several places call keeps inputs of its own, and so does a loop.
    """

    def __init__(self, draft: Draft) -> None:
        """Starts without any call."""
        self.draft = draft
        self.sites: Counter[str] = Counter()
        self.conditions: dict[str, str] = {}
        self.closed: dict[str, list[Any]] = {}
        self.given: dict[str, list[Any]] = {}
        self.results: dict[str, list[Slot]] = {}
        self.made: dict[int, Call] = {}
        self.dropped: set[int] = set()

    def survey(self, statements: Iterable[Statement]) -> None:
        """Counts the calls of every subgraph; one that an operator takes can be called by it at any
        time.
        """
        for statement in statements:
            self.sites.update(statement.called)
            if statement.op not in HANDED_ON:
                values = [
                    value.name for value in statement.node.operands if isinstance(value, GraphRef)
                ]
                self.sites.update(dict.fromkeys(values, 2))
            if len(statement.called) > 1:
                self.conditions.update(
                    {
                        _branch(name): told
                        for name in statement.called
                        if (told := _condition(statement))
                    }
                )

    def alone(self, name: str) -> bool:
        """Whether one call alone enters a subgraph."""
        return self.sites[name] == 1

    def bind(self, statement: Statement, operands: list[Any]) -> bool:
        """Takes what a Partial closes over; False where its subgraph keeps inputs of its own."""
        callee = next(iter(statement.node.operands), None)
        if (
            statement.op != "Partial"
            or not isinstance(callee, GraphRef)
            or not self.alone(callee.name)
        ):
            return False
        self.closed[callee.name] = operands[1:]
        return True

    def call(self, number: int, statement: Statement, operands: list[Any]) -> None:
        """Hands a call's arguments to the subgraphs that it enters."""
        through = len(statement.operands) - len(statement.node.operands)
        for name in statement.called:
            if self.alone(name):
                self.given[name] = operands[through:]
        self.made[number] = Call(
            statement.called, tuple(slots(operands[:through])), tuple(slots(operands[through:]))
        )

    def arguments(self, name: str, count: int) -> list[Any] | None:
        """What the parameters of a subgraph are, where one call alone enters it and that is known."""
        given = [*self.closed.get(name, []), *self.given.get(name, [])]
        return given if self.alone(name) and len(given) == count else None

    def reads(self) -> Iterator[tuple[int, list[int]]]:
        """Every call with the nodes that it takes, for itself or into a subgraph."""
        for number, call in self.made.items():
            closed = [slot for name in call.called for slot in slots(self.closed.get(name, []))]
            yield number, [origin for origin, _ in (*call.decides, *call.takes, *closed)]

    def settle(self, idle: frozenset[str], observed: bool) -> None:
        """Draws what comes out of subgraphs into their calls, with the value of the one that ran;
        inner calls first.
        """
        read = {origin for origin, _, _, _ in self.draft.edges}
        for number, call in reversed(self.made.items()):
            if self._plain(number):
                self._value(number, self.results[call.called[0]])
                continue
            entered = [name for name in call.called if self.alone(name) and name in self.results]
            whole = len(entered) == len(call.called)
            takes = [
                slot
                for slot in call.takes
                if not whole or (slot[0] not in read and self._made(slot))
            ]
            came = [slot for name in entered for slot in self.results[name]]
            told = whole and any(
                "◂" in name for name in call.called
            )  # a closure, whose contents stand in what it calls
            for place, slot in enumerate((*(() if told else call.decides), *takes, *came)):
                self.draft.edges[(*slot, number, place)] = None
            ran = [name for name in entered if name not in idle]
            if observed and whole and len(ran) == 1:
                self._value(number, self.results[ran[0]])

    def _made(self, slot: Slot) -> bool:
        return self.draft.nodes[slot[0]].kind != "constant"

    def _idle(self, node: Node) -> bool:
        return node.kind == "constant" or (node.kind == "op" and not node.outputs)

    def _plain(self, number: int) -> bool:
        """Whether a call alone enters one function: that stands in the caller as if it were written
        there.
        """
        called = self.made[number].called
        return len(called) == 1 and self.alone(called[0]) and bool(self.results.get(called[0]))

    def dissolve(self, asked: Iterable[Any] = ()) -> Callable[[Slot], Slot]:
        """Takes out calls of functions that are called once, ops without tensors, and constants
        that nothing reads.

        What is ``asked`` for stays. Tells where a slot is found afterwards.
        """
        results = {
            number: self.results[call.called[0]]
            for number, call in self.made.items()
            if self._plain(number)
        }
        read = {origin for origin, _, _, _ in self.draft.edges}
        read |= {slot[0] for value in asked for slot in slots(value)}
        unread = [number for number in range(len(self.draft.nodes)) if number not in read]
        self.dropped = {number for number in unread if self._idle(self.draft.nodes[number])}
        kept = [
            number
            for number in range(len(self.draft.nodes))
            if number not in results and number not in self.dropped
        ]
        numbers = {old: new for new, old in enumerate(kept)}
        homes = {self.made[number].called[0]: self.draft.nodes[number].body for number in results}

        def moved(slot: Slot) -> Slot:
            while slot[0] in results:
                came = results[slot[0]]
                slot = came[slot[1]] if slot[1] < len(came) else came[0]
            return numbers[slot[0]], slot[1]

        draft = self.draft
        for old in numbers:
            body, forward = draft.nodes[old].body, draft.nodes[old].forward
            while body in homes:
                body = homes[body]
            linked = None if forward is None else f"n{moved((int(forward[1:]), 0))[0]}"
            draft.change(old, id=f"n{numbers[old]}", order=numbers[old], body=body, forward=linked)
        draft.nodes[:] = [draft.nodes[old] for old in numbers]
        draft.edges = {
            (*moved((a, out)), numbers[b], into): None
            for a, out, b, into in draft.edges
            if b in numbers
        }
        draft.controls = {
            (moved((a, 0))[0], numbers[b]): None for a, b in draft.controls if b in numbers
        }
        draft.saved = {numbers[old]: size for old, size in draft.saved.items() if old in numbers}
        return moved

    def _value(self, number: int, came: list[Slot]) -> None:
        node = self.draft.nodes[number]
        found = [
            each
            for origin, output in came
            for each in self.draft.nodes[origin].outputs[output : output + 1]
        ]
        if [each.shape for each in found] != [each.shape for each in node.outputs]:
            return
        known = all(each.values for each in found)
        missing = {
            key: reason for key, reason in node.missing.items() if key != "values" or not known
        }
        self.draft.change(number, outputs=tuple(found), missing=missing)

    def rename(self) -> None:
        """Gives subgraphs the names that a reader understands; equal names are numbered."""
        names = dict.fromkeys(
            name for node in self.draft.nodes for name in (node.body, *node.calls) if name
        )
        known: Counter[str] = Counter()
        labels = {}
        for name in names:
            label = readable(name, self.conditions.get(_branch(name), ""))
            known[label] += 1
            labels[name] = label if known[label] == 1 else f"{label} ({known[label]})"
        for number, node in enumerate(self.draft.nodes):
            if node.body or node.calls:
                calls = tuple(map(labels.__getitem__, node.calls))
                name = _decision(calls) if calls else node.name
                self.draft.change(number, body=labels.get(node.body, ""), calls=calls, name=name)


def _decision(calls: tuple[str, ...]) -> str:
    """What a call is called: the condition that it decides by, or the function that it enters."""
    first = calls[0].removesuffix(BACKWARD)
    return (
        first.partition(":")[0]
        if len(calls) == 1 or ":" in first
        else first.removeprefix("true ").removeprefix("false ")
    )


def slots(value: Any) -> Iterator[Slot]:
    """The tensors in a value: of a tuple, or closed over by a function."""
    if isinstance(value, list):
        for item in value:
            yield from slots(item)
    elif isinstance(value, Captured):
        yield from value.slots
    elif isinstance(value, tuple):
        yield value


def readable(name: str, condition: str = "") -> str:
    """A subgraph's name in words: "if x.sum() > 0: true branch", "loop body of line 12", or the
    function's own name.

    >>> readable("165_160_99_▸59_✓net_construct_341", "if x.sum() > 0")
    'if x.sum() > 0: true branch'
    >>> readable("73_deprecated_tensor_sum_176")
    'deprecated_tensor_sum'
    """
    found = NAME.match(name)
    if found is None:
        return name
    back = BACKWARD if found["back"] == "◂" else ""
    if not found["mark"]:
        return (found["name"] or name) + back
    words = MARKS[found["mark"]]
    return (
        f"{condition}: {words}"
        if condition and ":" not in condition
        else f"{words}{condition.lstrip(':')}"
    ) + back


def argument(name: str) -> str:
    """What a subgraph's parameter is called: as in the source, without the compiler's marks;
    "argument" where it has no name.

    >>> argument("▸фh"), argument("equiv_17_cube"), argument("Parameter_375")
    ('h', 'cube', 'argument')
    """
    plain = re.sub(r"^(?:[▸◂ф]|equiv_\d+_)+", "", name)
    return "argument" if re.fullmatch(r"(?:Parameter|CNode)_\d+|", plain) else plain


def _branch(name: str) -> str:
    """What the forward and the backward of a branch share in their names: its number and mark; the
    whole name of any other.
    """
    found = BRANCH.search(name)
    return found[1] if found else name


def _condition(statement: Statement) -> str:
    """The condition that a call decides by, as the user wrote it, or ":" and its line."""
    source = next(
        (
            each
            for each in reversed(statement.node.sources)
            if not each.code.lstrip().startswith(DEFINITIONS)
        ),
        None,
    )
    if source is None:
        return ""
    code = source.code.strip()
    found = re.match(r"(?:el)?((?:if|while|for) .+):$", code) or re.search(
        r"\b(if .+?) else\b", code
    )
    return found[1] if found and len(found[1]) <= LONGEST else f": of line {source.line}"
