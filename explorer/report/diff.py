"""The comparison of two engines on one case, in lines: results, graphs, and divergences."""

from collections.abc import Iterator, Sequence

from explorer.drawing.structure import layer_of
from explorer.model.alignment import Alignment, Count, Coverage, Seen
from explorer.model.divergence import Divergence
from explorer.model.graph import GradGraph, Node
from explorer.model.report import CaseReport, Report
from explorer.report.scenario.case_rows import DIVIDED
from explorer.report.scenario.graphs import last_graph
from explorer.text.arguments import call_text
from explorer.text.language import _, named
from explorer.text.messages import one_line
from explorer.words.causes import attempts, cause
from explorer.words.coverage import counted, not_compared, not_of_the_call, unproven
from explorer.words.divergences import divergences, every, going_on
from explorer.words.findings import sentence as finding_sentence
from explorer.words.graphs import why_no_graph
from explorer.words.groups import worded_answers
from explorer.words.headlines import headline
from explorer.words.known import known_line, reasons
from explorer.words.proofs import warnings
from explorer.words.readings import greatest_difference, readings
from explorer.words.scenarios import said
from explorer.words.settings import settings_of_layers
from explorer.words.unpaired import detail

MOST_NAMES = 8
"""The greatest number of results that are named."""


def finding_lines(report: Report) -> Iterator[str]:
    """What was found out about the nets themselves, a line each; remarks come behind the comparison."""
    for finding in report.findings:
        if not finding.is_remark:
            text = _("finding: {text}")
            if finding.expected:
                text = _("finding: {text} (expected: {reason})")
            yield text.format(text=finding_sentence(finding), reason=said(finding.reason))


def remark_lines(report: Report) -> Iterator[str]:
    """What is worth knowing of the nets and is no mistake, a line each."""
    for finding in report.findings:
        if finding.is_remark:
            yield _("remark: {text}").format(text=finding_sentence(finding))


def do_differ(report: Report) -> bool:
    """Whether the two engines of a report on one case differ: in results, graphs, or their nets.

    What the oracle says of both is not a difference between them; the first line says it.
    """
    differ = any(case.verdict in DIVIDED and not case.expected for case in report.cases)
    diverge = any(alignment.divergence for alignment in report.alignments)
    return differ or diverge or any(finding.is_alarm for finding in report.findings)


def comparison_lines(
    report: Report, engines: Sequence[str], list_all: bool = False
) -> Iterator[str]:
    """The comparison of two engines: their results, then their graphs as far as there are any.

    The lines hold foreign text: whoever prints them cleans them.
    """
    yield from finding_lines(report)
    graphs = [last_graph(report, engine) for engine in engines]
    left, right = graphs
    if left and right:
        (alignment,) = report.alignments
        yield from diff_lines(alignment, left, right, list_all, case_of(report, alignment))
        yield from remark_lines(report)
        return
    for case in report.cases:
        yield case.case.label
        yield f"  {headline(case)}"
        yield from _answers(case)
    yield from absence_lines(report, engines)
    yield from remark_lines(report)


def unaligned(report: Report, engines: Sequence[str]) -> Alignment | None:
    """The alignment of two engines of which one or both gave no graph; None where both have one."""
    missing = tuple(engine for engine in engines if last_graph(report, engine) is None)
    if not missing:
        return None
    # The others' graphs are of the case.
    labels = [*(graph.case for graph in report.graphs), *(it.case.label for it in report.cases)]
    nothing = Coverage(forward=Count(), backward=Count())
    return Alignment(
        left=engines[0],
        right=engines[1],
        case=labels[0],
        pairs=(),
        unpaired=(),
        differing=(),
        left_coverage=nothing,
        right_coverage=nothing,
        missing=missing,
    )


def absence_lines(report: Report, engines: Sequence[str]) -> Iterator[str]:
    """Which of two engines gave no graph, and why."""
    for engine in engines:
        if last_graph(report, engine) is None:
            yield _without_graph(report, engine)
    yield _("the graphs are not compared")


def case_of(report: Report, alignment: Alignment) -> CaseReport | None:
    """The case whose graphs are aligned."""
    for case in report.cases:
        if case.case.label == alignment.case:
            return case
    return None


def _answers(case: CaseReport) -> Iterator[str]:
    """What each engine answers, for want of a second graph."""
    width = max(map(len, case.results))
    for answer in worded_answers(case):
        for engine in answer.engines:
            yield f"  {engine:{width}}  {answer.text}"


def _without_graph(report: Report, engine: str) -> str:
    why = report.ungraphed.get(engine)
    text = _("no graph from {engine}").format(engine=engine)
    if why is None:
        return text
    # The error of the call itself is among the answers above, where only lost engines are left out.
    results = (case.results[engine] for case in report.cases if engine in case.results)
    if not why.error.loss and any(result.error == why.error for result in results):
        return text
    return _("{what}: {values}").format(what=text, values=one_line(why_no_graph(why)))


def diff_lines(
    alignment: Alignment,
    left: GradGraph,
    right: GradGraph,
    list_all: bool = False,
    case: CaseReport | None = None,
) -> Iterator[str]:
    """The alignment of two graphs in lines: how much is paired, and the first divergence.

    With ``list_all``, the further ones as well; with the report on the ``case``, what its results
    are. The lines hold foreign text: whoever prints them cleans them.
    """
    width = max(len(alignment.left), len(alignment.right))
    yield alignment.case
    if case:
        yield f"  {headline(case)}"
    for graph in (left, right):
        for warning in warnings(graph):
            yield f"  {graph.engine:{width}}  {warning}"
    yield f"  {alignment.left:{width}}  {_coverage(alignment.left_coverage)}"
    yield f"  {alignment.right:{width}}  {_coverage(alignment.right_coverage)}"

    if alignment.divergence is None:
        yield from agreement_lines(alignment, case)
        if not alignment.altered:
            yield from _doubts(alignment, left, right)
            yield from _unjudged(alignment)
        return
    if alignment.drawn:
        yield not_compared(alignment)
    count = len(alignment.divergences) if list_all else 1
    yield from _divergences(alignment, left, right, count, list_all)
    more = len(alignment.divergences) - count
    if more:
        several = _("{n} further divergences that this one does not explain: --all")
        one = _("1 further divergence that this one does not explain: --all")
        yield one if more == 1 else several.format(n=more)
    yield from _as_if_mended(alignment, left, right)
    if alignment.differing:
        yield _("results that differ: {names}").format(names=_few(alignment.differing))
    yield from _unjudged(alignment)


def _unjudged(alignment: Alignment) -> Iterator[str]:
    """The results of which nothing can be said, for all their difference."""
    if alignment.unjudged:
        yield _(
            "results that cannot be judged, as rounding alone moves them by as much as their own size:"
            " {names}"
        ).format(names=_few(alignment.unjudged))


def _divergences(
    alignment: Alignment, left: GradGraph, right: GradGraph, count: int, list_all: bool
) -> Iterator[str]:
    """The first ``count`` divergences: each in a sentence, with both sides, its cause and what is known.

    With ``list_all``, also what was tried where no cause is known.
    """
    sentences = list(divergences(alignment))
    for place, one in enumerate(alignment.plain[:count]):
        yield sentences[place]
        yield from _both_sides(one.divergence, alignment, left, right)
        why = cause(alignment, place)
        if why:
            yield f"  {why}"
        elif list_all or alignment.untried:
            yield from _unexplained(one, attempts(alignment, place), left, right)
        known = known_line(one.known)
        if known:
            yield f"  {known}"


def _unexplained(one: Seen, tried: str, left: GradGraph, right: GradGraph) -> Iterator[str]:
    """What was tried at a divergence without a cause, and settings of the layers, which were not."""
    was_tried = one.attempts is not None
    settings = _other_settings(one.divergence, left, right, was_tried=was_tried)
    for text in filter(None, (tried, settings)):
        yield f"  {text}"


def _other_settings(
    divergence: Divergence, left: GradGraph, right: GradGraph, *, was_tried: bool
) -> str:
    """How the layers were made differently in which the two ops run; "" where that is not known."""
    graphs = left, right
    paths = [_path(node, graph) for node, graph in zip(divergence.nodes, graphs, strict=True)]
    # Of ops that one side alone has, in the layer of the same place.
    of_both = [path or other for path, other in zip(paths, paths[::-1], strict=True)]
    one, other = (graph.layers.get(path or "") for path, graph in zip(of_both, graphs, strict=True))
    if one is None or other is None:
        return ""
    engines = left.engine, right.engine
    return settings_of_layers((one, other), engines, was_tried=was_tried)


def _path(node: str | None, graph: GradGraph) -> str | None:
    """The path of the innermost layer that a node runs in."""
    found = graph.by_id().get(node or "")
    return None if found is None else layer_of(found.scope, graph.layers)


def _as_if_mended(alignment: Alignment, left: GradGraph, right: GradGraph) -> Iterator[str]:
    """The divergences behind, as the first one is said, and what was computed again to see them."""
    for one, sentence in every(alignment):
        if not one.run:
            continue
        yield sentence
        yield from _both_sides(one.divergence, alignment, left, right)
        for text in reasons(one, alignment):
            yield f"  {text}"
    if alignment.mended:
        yield going_on(alignment.mended, (alignment.left, alignment.right))


def do_answer_apart(alignment: Alignment, case: CaseReport | None) -> bool:
    """Whether the calls of the two engines gave other answers to the ``case``, whatever their graphs show."""
    parties = {alignment.left, alignment.right}
    return case is not None and any(parties == set(two) for two in case.apart)


def agreement_lines(alignment: Alignment, case: CaseReport | None) -> Iterator[str]:
    """What is said of two graphs that do not part: what was compared, and what was not."""
    if alignment.drawn:
        yield not_compared(alignment)
    if alignment.altered:
        yield not_of_the_call(alignment)
    elif do_answer_apart(alignment, case):
        yield _("no divergence found in the graphs, although the results of the calls differ")
    elif case and case.verdict == "drawn":
        yield _("no divergence: there is no result whose values can be compared")
    elif alignment.drawn:
        yield _("no divergence: all that does not depend on them is the same on both sides")
    else:
        yield _("no divergence: every result is the same on both sides, up to rounding")


def _few(names: Sequence[str]) -> str:
    """The first of many names, and how many there are."""
    if len(names) <= MOST_NAMES:
        return named(names)
    text = _("{names}, … ({n} in all)")
    return text.format(names=named(names[:MOST_NAMES]), n=len(names))


def _both_sides(
    divergence: Divergence, alignment: Alignment, left: GradGraph, right: GradGraph
) -> Iterator[str]:
    """A divergence: the op, the value and the line of each side, and how far they differ."""
    width = max(len(alignment.left), len(alignment.right))
    left_end, right_end = divergence.ends
    values = readings((left_end.value, right_end.value))
    for end, value, graph in zip(divergence.ends, values, (left, right), strict=True):
        # A side without a counterpart has no node, no value and no line.
        op = _op(graph.by_id().get(end.node or ""))
        yield f"  {graph.engine:{width}}  {op}  {value}  {end.source}".rstrip()
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
    if node is None:
        return _("no counterpart")
    return f"{call_text(node.op, node.arguments)} ({node.id})"
