"""The comparison of two trainings in lines and as blocks of a page."""

from collections.abc import Iterator

from explorer.blocks import html
from explorer.blocks.records import Block, Bullets, Figure, Paragraph, Section, Span, Table, columns
from explorer.drawing.training import distance_svg, losses_svg, weights_svg
from explorer.model.training_comparison import TrainingComparison
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


def comparison_blocks(comparison: TrainingComparison) -> Iterator[Block]:
    """The comparison as blocks: the first difference, both pictures, and all answers."""
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
    yield from comparison_figures(comparison)
    rows = tuple(answers(comparison).items())
    table = Table(columns((_("what is compared"), _("answer"))), rows)
    yield Section(_("All answers"), (table,))


def comparison_figures(comparison: TrainingComparison) -> Iterator[Figure]:
    """The pictures of two trainings: losses, and how far all lies apart where noise was measured."""
    pictures = {
        "losses": (losses_svg, _("losses by step")),
        "distance": (distance_svg, _("how far losses lie apart, by step")),
        "weights": (weights_svg, _("how far weights lie apart, by parameter and step")),
    }
    for name, (draw, description) in pictures.items():
        svg = draw(comparison)
        if svg:
            yield Figure(name, (svg,), description)


def comparison_page(comparison: TrainingComparison) -> bytes:
    """The comparison as a whole HTML document."""
    title = " | ".join((comparison.left, comparison.right))
    return html.page(title, comparison_blocks(comparison)).encode()


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
        "no run with a jittered start is recorded: `explorer train` makes some; losses, gradients and weights"
        " are judged only where their difference can be computed"
    )
