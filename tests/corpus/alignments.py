"""The alignments of a report as lines: divergences, unpaired nodes, pairs with their evidence."""

from collections import Counter
from collections.abc import Iterable

from explorer.model.alignment import Alignment, How, Pair
from explorer.model.divergence import Divergence
from explorer.model.engines import ENGINES
from explorer.model.graph import SideName
from explorer.words.readings import reading
from tests.corpus.graphs import VALUES, Labels
from tests.corpus.values import written_group

NOTHING = "nothing"
"""What is written where a graph has no counterpart."""


def alignment_sections(
    alignments: Iterable[Alignment], labels: dict[str, Labels]
) -> list[list[str]]:
    """A section for each alignment.

    A graph mostly pairs with both graphs of the other framework in the same way: of the second
    alignment, lines that are those of the first are counted only.
    """
    sections: list[list[str]] = []
    earlier: dict[tuple[str, str], tuple[str, set[str]]] = {}
    for alignment in alignments:
        left, right = labels[alignment.left], labels[alignment.right]
        name = f"{alignment.left} and {alignment.right}"
        nodes = []
        for node in alignment.unpaired:
            label = (left if node.side == "left" else right)[node.node]
            nodes.append(f" unpaired {node.side} {label} {node.reason}")
        nodes += _pair_lines(alignment, left, right)
        section = [_title(alignment)]
        section += [_divergence_line(place, left, right) for place in alignment.divergences]

        key = alignment.left, ENGINES[alignment.right].framework
        if key in earlier:
            other, known = earlier[key]
            new = [line for line in nodes if line not in known]
            section += new
            section.append(f" {len(nodes) - len(new)} lines as in {other}")
        else:
            earlier[key] = name, set(nodes)
            section += nodes
        sections.append(section)
    return sections


def _title(alignment: Alignment) -> str:
    facts = [f"{alignment.left} and {alignment.right}: {alignment.case}"]
    if alignment.differing:
        facts.append(f"differing {' '.join(alignment.differing)}")
    if alignment.drawn:
        facts.append(f"drawn {' '.join(alignment.drawn)}")
    if not alignment.expected:
        facts.append("not expected")
    return ", ".join(facts)


def _divergence_line(divergence: Divergence, left: Labels, right: Labels) -> str:
    """Where the graphs differ: the kind, the phase, the node of each side, and the values there."""
    one, other = divergence.ends
    kind = type(divergence).__struct_config__.tag
    ends = f"{_end(one.node, left)} and {_end(other.node, right)}"
    values = f"{_short(reading(one.value))}; {_short(reading(other.value))}"
    return f" divergence {kind} {divergence.phase} {ends}{VALUES}{values}"


def _end(node: str | None, labels: Labels) -> str:
    return NOTHING if node is None else labels[node]


def _short(value: str) -> str:
    """A number in three digits; anything else as it is."""
    try:
        return written_group([float(value)])
    except ValueError:
        return value


def _pair_lines(alignment: Alignment, left: Labels, right: Labels) -> list[str]:
    """A line for each pair; those of nodes with the same label are counted, by their evidence."""
    lines = []
    alike: Counter[How] = Counter()
    for pair in alignment.pairs:
        one, other = _member(pair, "left", left), _member(pair, "right", right)
        if one == other:
            alike[pair.how] += 1
        else:
            lines.append(f" {pair.how} {one} {other}")
    return lines + [f" {how} {alike[how]} of the same label" for how in sorted(alike)]


def _member(pair: Pair, side: SideName, labels: Labels) -> str:
    """The node of a side, its output where that is not the first, and the steps inside it."""
    node, *within = [labels[member] for member in pair.members(side)]
    slot = pair.left_output if side == "left" else pair.right_output
    text = f"{node}.{slot}" if slot else node
    return f"{text}<{','.join(within)}>" if within else text
