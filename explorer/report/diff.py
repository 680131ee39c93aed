"""The divergences of two engines' graphs, in lines."""

from collections.abc import Iterator

from explorer.model.alignment import Alignment, Coverage
from explorer.model.divergence import Divergence
from explorer.model.graph import GradGraph, Node
from explorer.model.report import Report
from explorer.text.language import _, named
from explorer.words.coverage import counted, not_compared, not_of_the_call, unproven
from explorer.words.divergences import divergences
from explorer.words.findings import sentence as finding_sentence
from explorer.words.proofs import warnings
from explorer.words.readings import greatest_difference, reading
from explorer.words.scenarios import said
from explorer.words.unpaired import detail


def finding_lines(report: Report) -> Iterator[str]:
    """What was found out about the nets themselves, a line each."""
    for finding in report.findings:
        text = _("remark: {text}") if finding.is_remark else _("finding: {text}")
        if finding.expected:
            text = _("finding: {text} (expected: {reason})")
        yield text.format(text=finding_sentence(finding), reason=said(finding.reason))


def diff_lines(
    alignment: Alignment, left: GradGraph, right: GradGraph, list_all: bool = False
) -> Iterator[str]:
    """The alignment of two graphs in lines: how much is paired, and the first divergence.

    With ``list_all``, the further ones as well. The lines hold foreign text: whoever prints them
    cleans them.
    """
    width = max(len(alignment.left), len(alignment.right))
    yield alignment.case
    for graph in (left, right):
        for warning in warnings(graph):
            yield f"  {graph.engine:{width}}  {warning}"
    yield f"  {alignment.left:{width}}  {_coverage(alignment.left_coverage)}"
    yield f"  {alignment.right:{width}}  {_coverage(alignment.right_coverage)}"

    if alignment.drawn:
        yield not_compared(alignment)
    if alignment.altered:
        yield not_of_the_call(alignment)
        return
    if alignment.divergence is None:
        if alignment.drawn:
            yield _("no divergence: every other result is the same on both sides, up to rounding")
        else:
            yield _("no divergence: every result is the same on both sides, up to rounding")
        yield from _doubts(alignment, left, right)
        return
    shown = alignment.divergences if list_all else alignment.divergences[:1]
    for divergence, sentence in zip(shown, divergences(alignment), strict=False):
        yield sentence
        yield from _both_sides(divergence, alignment, left, right)
    more = len(alignment.divergences) - len(shown)
    if more:
        several = _("{n} further divergences that this one does not explain: --all")
        one = _("1 further divergence that this one does not explain: --all")
        yield one if more == 1 else several.format(n=more)
    if alignment.differing:
        names = named(alignment.differing)
        yield _("results that differ: {names}").format(names=names)


def _both_sides(
    divergence: Divergence, alignment: Alignment, left: GradGraph, right: GradGraph
) -> Iterator[str]:
    """A divergence: the op, the value and the line of each side, and how far they differ."""
    width = max(len(alignment.left), len(alignment.right))
    for end, graph in zip(divergence.ends, (left, right), strict=True):
        # A side without a counterpart has no node, no value and no line.
        op = _op(graph.by_id().get(end.node or ""))
        yield f"  {graph.engine:{width}}  {op}  {reading(end.value)}  {end.source}".rstrip()
    greatest = greatest_difference(divergence.gap)
    if greatest:
        yield f"  {greatest}"


def _coverage(coverage: Coverage) -> str:
    forward, backward = counted(coverage.forward), counted(coverage.backward)
    text = _("forward {forward}; backward {backward}")
    return text.format(forward=forward, backward=backward)


def _doubts(alignment: Alignment, left: GradGraph, right: GradGraph) -> Iterator[str]:
    """What keeps two graphs whose results are equal from being the same."""
    nodes = {"left": left.by_id(), "right": right.by_id()}
    engines = {"left": alignment.left, "right": alignment.right}
    for wrong in alignment.contradictions:
        node = nodes[wrong.side][wrong.node]
        why = detail(wrong, (alignment.left, alignment.right))
        text = _("refuted: {op} of {engine}: {why}")
        if wrong.reason == "difference":
            text = _("difference: {op} of {engine}: {why}")
        yield text.format(op=_op(node), engine=engines[wrong.side], why=why)
    if alignment.unproven:
        yield unproven(alignment)


def _op(node: Node | None) -> str:
    return f"{node.op} ({node.id})" if node else _("no counterpart")
