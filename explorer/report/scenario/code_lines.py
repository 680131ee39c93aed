"""The text of a scenario's nets, each line with the nodes that it made and the other net's lines."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from explorer.drawing.cards import short_name
from explorer.model.alignment import Alignment
from explorer.model.engines import engine_named
from explorer.model.graph import GradGraph, Node, SideName, is_users
from explorer.pair.details import source_file
from explorer.scenario.own_nets import code_of
from explorer.text.clean import clean
from explorer.text.parsing import parsed
from explorer.words.causes import heading, mend_texts

OTHER: dict[SideName, SideName] = {"left": "right", "right": "left"}

Place = tuple[str, int]
"""A file's name and the number of a line in it."""


class LinkedNode(msgspec.Struct, frozen=True):
    """One node of a line; ``differs`` where the graphs part at it."""

    id: str
    op: str
    phase: str
    differs: bool


class LineCause(msgspec.Struct, frozen=True):
    """Why the graphs part at a line, and what to write in this net; "" where that is not known."""

    why: str
    code: str = ""


class CodeLine(msgspec.Struct, frozen=True):
    """One line of a net.

    ``nodes`` are those that it made, in execution order; ``partners`` the places of lines on the
    other side whose nodes hold the same quantities ("net.py:12"), the one with most pairs first.
    ``causes`` say why the graphs part at it.
    """

    place: str
    number: int
    text: str
    nodes: tuple[LinkedNode, ...] = ()
    partners: tuple[str, ...] = ()
    causes: tuple[LineCause, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the graphs part at a node of this line."""
        return any(node.differs for node in self.nodes)


class _Linked(NamedTuple):
    """What there is at each line of a side: its nodes, the lines with its pairs, and its causes."""

    nodes: Mapping[Place, list[LinkedNode]]
    partners: Mapping[Place, Counter[Place]]
    causes: Mapping[Place, list[LineCause]]


class CodeBlock(msgspec.Struct, frozen=True):
    """A function or class at the top of a file."""

    file: str
    lines: tuple[CodeLine, ...]


def both_nets(
    left: GradGraph, right: GradGraph, alignment: Alignment | None, file: Path
) -> tuple[tuple[CodeBlock, ...], tuple[CodeBlock, ...]]:
    """The code of two graphs' nets, in a scenario's file and in others of the user's that nodes name."""
    graphs: dict[SideName, GradGraph] = {"left": left, "right": right}
    lines = {side: lines_by_node(graph) for side, graph in graphs.items()}
    partners = _partners(alignment, lines)
    blocks = []
    for side, graph in graphs.items():
        nodes = _nodes_by_place(graph, lines[side], _diverging(alignment, side))
        net = f"{engine_named(graph.engine).framework}_net"
        found = _Linked(nodes, partners[side], _causes(alignment, side, lines[side]))
        blocks.append(tuple(_blocks(file, net, found)))
    return blocks[0], blocks[1]


def lines_by_node(graph: GradGraph) -> dict[str, Place]:
    """The user's line that made each node, by the node's id; a node without one is left out."""
    lines = {}
    for node in graph.nodes:
        for source in node.source:
            name, _, number = source.rpartition(":")
            if is_users(name) and number.isdecimal():
                lines[node.id] = (name, int(number))
                break
    return lines


def _partners(
    alignment: Alignment | None, lines: Mapping[SideName, Mapping[str, Place]]
) -> dict[SideName, dict[Place, Counter[Place]]]:
    """How many pairs each line of a side has with each line of the other."""
    partners: dict[SideName, dict[Place, Counter[Place]]] = {"left": {}, "right": {}}
    for pair in alignment.pairs if alignment else ():
        left, right = lines["left"].get(pair.left), lines["right"].get(pair.right)
        if left and right:
            partners["left"].setdefault(left, Counter())[right] += 1
            partners["right"].setdefault(right, Counter())[left] += 1
    return partners


def _diverging(alignment: Alignment | None, side: SideName) -> set[str]:
    """The nodes of a side where the graphs part."""
    if alignment is None:
        return set()
    slot = 0 if side == "left" else 1
    nodes = [one.divergence.nodes[slot] for one in alignment.seen]
    return {node for node in nodes if node}


def _causes(
    alignment: Alignment | None, side: SideName, lines: Mapping[str, Place]
) -> dict[Place, list[LineCause]]:
    """Why the graphs part, by the lines of a side where they do, with what to write there."""
    causes: dict[Place, list[LineCause]] = {}
    if alignment is None:
        return causes
    engines = alignment.left, alignment.right
    for one in alignment.seen:
        place = lines.get(one.divergence.nodes[0 if side == "left" else 1] or "")
        if one.cause is None or place is None:
            continue
        codes = [mend.code for mend in mend_texts(one.cause, engines) if mend.side == side]
        title = heading(one.cause, engines, as_if_mended=one.run > 0)
        why = clean(title).replace("`", "")
        said = LineCause(why, clean("".join(codes)))
        if said not in causes.setdefault(place, []):
            causes[place].append(said)
    return causes


def _nodes_by_place(
    graph: GradGraph, lines: Mapping[str, Place], diverging: set[str]
) -> dict[Place, list[LinkedNode]]:
    nodes: dict[Place, list[LinkedNode]] = {}
    for node in sorted(graph.nodes, key=_order):
        if node.id in lines:
            linked = LinkedNode(
                node.id, clean(short_name(node.op)), node.phase, node.id in diverging
            )
            nodes.setdefault(lines[node.id], []).append(linked)
    return nodes


def _order(node: Node) -> int:
    return node.order


def _blocks(file: Path, net: str, found: _Linked) -> Iterator[CodeBlock]:
    """The net's own function, and every other definition with a line that made a node."""
    code = code_of(file)
    names = dict.fromkeys([file.name, *sorted(name for name, _ in found.nodes)])
    for name in names:
        path = source_file(name, code)
        if path is None:
            continue
        texts = path.read_text(encoding="utf-8").splitlines()
        linked = {number for place, number in found.nodes if place == name}
        for first, last in _spans(path, net if name == file.name else "", linked):
            lines = []
            for number in range(first, last + 1):
                place = (name, number)
                others = [
                    _written(other)
                    for other, _ in found.partners.get(place, Counter()).most_common()
                ]
                text = clean(texts[number - 1])
                made = tuple(found.nodes.get(place, ()))
                causes = tuple(found.causes.get(place, ()))
                lines.append(CodeLine(_written(place), number, text, made, tuple(others), causes))
            yield CodeBlock(name, tuple(lines))


def _spans(path: Path, net: str, linked: set[int]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each definition that is shown."""
    for definition in parsed(path.read_bytes(), str(path)).body:
        if not isinstance(definition, ast.FunctionDef | ast.ClassDef):
            continue
        decorators = [decorator.lineno for decorator in definition.decorator_list]
        first = min([definition.lineno, *decorators])
        last = definition.end_lineno or first
        if definition.name == net or not linked.isdisjoint(range(first, last + 1)):
            yield first, last


def _written(place: Place) -> str:
    return f"{place[0]}:{place[1]}"
