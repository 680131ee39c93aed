"""All that is known of a node, line by line, for the tooltip of its box."""

import math
from typing import Final

from explorer.drawing.marks import Mark
from explorer.model.absences import Absence
from explorer.model.arrays import unpack
from explorer.model.graph import Node, Output
from explorer.text.language import ENGLISH, said_in
from explorer.text.numbers import digits
from explorer.words.graphs import why_missing

MOST_SOURCES: Final = 3
MOST_SUBGRAPHS: Final = 4
MOST_OUTPUTS: Final = 4
MOST_MEMBERS: Final = 12
MOST_ELEMENTS: Final = 24
"""Values of more elements than this are not written out."""


def tooltip(node: Node, mark: Mark) -> list[str]:
    """The lines of a node's tooltip."""
    lines = _name_lines(node, mark)
    lines += [f"source: {line}" for line in node.source[:MOST_SOURCES]]
    if node.body:
        lines.append(f"subgraph: {node.body}")
    lines += [f"enters: {name}" for name in node.calls[:MOST_SUBGRAPHS]]
    if node.forward:
        lines.append(f"derives from: {node.forward}")
    for index, output in enumerate(node.outputs[:MOST_OUTPUTS]):
        shape = ", ".join(map(str, output.shape))
        lines.append(f"output {index}: ({shape}) {output.dtype}{_statistics(output)}")
    if node.saved_bytes:
        lines.append(f"saves {node.saved_bytes} bytes for backward")
    lines += _member_lines(node, mark)
    if node.proof:
        lines.append(f"proof: {node.proof}")
    for name, absence in sorted(node.missing.items()):
        lines.append(f"no {name}: {_why_missing(absence)}")
    return lines


@said_in(ENGLISH)  # as the rest of a tooltip, whoever reads
def _why_missing(absence: Absence) -> str:
    return why_missing(absence)


def _name_lines(node: Node, mark: Mark) -> list[str]:
    """What a node is, what it is called, and what it is paired with."""
    lines = [f"{node.op} · {node.id}", f"{node.kind}, {node.phase}"]
    if node.name:
        lines.append(f"name: {node.name}")
    if mark.diverges:
        lines.append("the first divergence lies here")
    if mark.number is not None:
        lines.append(f"pair: {mark.number}")
    if node.scope:
        lines.append(f"scope: {node.scope}")
    return lines


def _member_lines(node: Node, mark: Mark) -> list[str]:
    """What a node shows beside itself, or instead of itself."""
    others = [member for member in mark.members if mark.is_module or member.id != node.id]
    lines = []
    for member in others[:MOST_MEMBERS]:
        shape = ", ".join(map(str, member.outputs[0].shape)) if member.outputs else ""
        lines.append(f"{member.kind} {member.name or member.op} ({shape}) · {member.id}")
    if len(others) > MOST_MEMBERS:
        lines.append(f"and {len(others) - MOST_MEMBERS} more")
    return lines


def _statistics(output: Output) -> str:
    summary = output.values
    if summary is None:
        return ""
    extremes = f"[{summary.minimum:.5g}, {summary.maximum:.5g}]"
    text = f" · μ {summary.mean:.5g} · ‖·‖ {summary.norm:.5g} · {extremes}"
    if summary.nonfinite:
        text += f" · {summary.nonfinite} not finite"
    if summary.whole is not None and math.prod(summary.whole.shape) <= MOST_ELEMENTS:
        text += f" · {digits(unpack(summary.whole), MOST_ELEMENTS)}"
    return text
