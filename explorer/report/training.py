"""The comparison of two trainings in lines and as blocks of a page."""

from collections.abc import Iterator
from functools import partial

from explorer.blocks import html
from explorer.blocks.records import Block, Bullets, Figure, Paragraph, Section, Span, Table, columns
from explorer.drawing.training import distance_svg, losses_svg, weights_svg
from explorer.model.report import Report
from explorer.model.training_comparison import TrainingComparison
from explorer.report import diff
from explorer.report.scenario.files import first_screen
from explorer.report.study import figures
from explorer.text.language import _
from explorer.words.training import answers, details, headline, rule_text


def comparison_lines(comparison: TrainingComparison) -> Iterator[str]:
    """Where two trainings first differ, a line each; they hold foreign text, which printing cleans."""
    yield headline(comparison)
    for detail in details(comparison):
        yield f"  {detail}"
    if comparison.rule is not None:
        text = _("the update of both is {rule}")
        yield f"  {text.format(rule=rule_text(comparison.rule))}"
    rows = answers(comparison)
    width = max(map(len, rows))
    for question, answer in rows.items():
        yield f"  {question:{width}}  {answer}"
    if not comparison.has_noise:
        yield f"  {_no_noise()}"


def comparison_blocks(
    comparison: TrainingComparison, graphs: Report | None = None
) -> Iterator[Block]:
    """The comparison as blocks: the first difference, both pictures, and all answers.

    ``graphs`` are those of the step where the trainings first differ: the first red cell leads there.
    """
    title = " | ".join((comparison.left, comparison.right))
    is_same = comparison.difference is None
    sentence = Span(headline(comparison), "strong", "good" if is_same else "alarm")
    yield Section(title, (Paragraph(_sides(comparison), "faint"), Paragraph((sentence,))), level=1)
    more = tuple(details(comparison))
    if comparison.rule is not None:
        more += (_("the update of both is {rule}").format(rule=rule_text(comparison.rule)),)
    if more:
        yield Bullets(more)
    if not comparison.has_noise:
        yield Paragraph(_no_noise(), "faint")
    yield from comparison_figures(comparison, f"#{GRAPHS}" if graphs else "")
    if graphs and comparison.difference:
        text = _("The graphs of step {n}, where they first differ")
        title = text.format(n=comparison.difference.step)
        yield Section(title, tuple(first_screen(graphs)), anchor=GRAPHS)
    rows = tuple(answers(comparison).items())
    table = Table(columns((_("what is compared"), _("answer"))), rows)
    yield Section(_("All answers"), (table,))


def graph_lines(graphs: Report | None) -> Iterator[str]:
    """Where the graphs of the step differ at which two trainings first do, if they were recorded."""
    if graphs is not None:
        yield ""
        yield from diff.comparison_lines(graphs, [graph.engine for graph in graphs.graphs], False)


WEIGHTS = "weights"
"""The name of the heat map."""

GRAPHS = "graphs"
"""The anchor of the graphs of the step where two trainings first differ."""


def comparison_figures(
    comparison: TrainingComparison, link: str = ""
) -> Iterator[Figure | Paragraph]:
    """The pictures of two trainings: losses, and how far all lies apart where noise was measured.

    The first red cell leads to ``link``, where there is one.
    """
    weights = partial(weights_svg, comparison, link=link)
    return figures(
        (
            ("losses", partial(losses_svg, comparison), _("losses by step")),
            ("distance", partial(distance_svg, comparison), _("how far losses lie apart, by step")),
            (WEIGHTS, weights, _("how far weights lie apart, by parameter and step")),
        )
    )


def comparison_page(comparison: TrainingComparison, graphs: Report | None = None) -> bytes:
    """The comparison as a whole HTML document, with the ``graphs`` of its step where there are some."""
    title = " | ".join((comparison.left, comparison.right))
    return html.page(title, comparison_blocks(comparison, graphs)).encode()


def _sides(comparison: TrainingComparison) -> str:
    sides = []
    for name, optimizer, versions in zip(
        (comparison.left, comparison.right),
        comparison.optimizers,
        comparison.versions,
        strict=True,
    ):
        known = ", ".join(f"{package} {version}" for package, version in versions.items())
        sides.append(": ".join((name, ", ".join(filter(None, (optimizer, known))))))
    return "; ".join(sides)


def _no_noise() -> str:
    return _(
        "no run with a jittered start is recorded: `explorer train` makes some; losses are judged by noise"
        " that doubles from step to step, and later gradients and weights only where their difference can be"
        " computed"
    )
