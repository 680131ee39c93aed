"""How much of two graphs is paired, and which results were compared, in words."""

from explorer.model.alignment import Alignment, Count
from explorer.model.engines import framework_of
from explorer.text.language import _, later, named
from explorer.words.divergences import first_divergence

LEGEND = later(
    "paired: with a partner in the other graph; inside: a step within one op of the other graph;"
    " two numbers: of the first and of the second graph; one: the same in both"
)
"""What the numbers of op nodes in ``of_both`` count."""


def counted(count: Count) -> str:
    """The op nodes of a phase: "12 paired, 2 inside, 1 unpaired"."""
    text = _("{paired} paired, {inside} inside, {unpaired} unpaired")
    return text.format(paired=count.paired, inside=count.inside, unpaired=count.unpaired)


def of_both(left: Count, right: Count) -> str:
    """The op nodes of a phase of both graphs: "1 paired, 8 and 12 unpaired"."""
    counts = (
        (_("{n} paired"), left.paired, right.paired),
        (_("{n} inside"), left.inside, right.inside),
        (_("{n} unpaired"), left.unpaired, right.unpaired),
    )
    parts = []
    for text, one, other in counts:
        if one or other:
            number = str(one)
            if one != other:
                number = _("{first} and {second}").format(first=one, second=other)
            parts.append(text.format(n=number))
    return _(", ").join(parts) or _("none")


def unproven(alignment: Alignment) -> str:
    """The number of ops without a counterpart of their own, whose values could not be checked."""
    if alignment.unproven == 1:
        return _(
            "1 op is compared only by the op that it leads to, since its own value could not be checked"
        )
    text = _(
        "{n} ops are compared only by the ops that they lead to, since their own values could not be"
        " checked"
    )
    return text.format(n=alignment.unproven)


def not_compared(alignment: Alignment) -> str:
    """The results that depend on a random draw on both sides; "" where none does."""
    if not alignment.drawn:
        return ""
    left, right = alignment.left, alignment.right
    text = _("not compared by value, since each engine draws its own random numbers: {names}")
    if framework_of(left) == framework_of(right):
        # From one seed two versions of a framework may draw other numbers.
        text = _(
            "not compared by value, since {left} and {right} did not draw the same random numbers:"
            " {names}"
        )
    return text.format(left=left, right=right, names=named(alignment.drawn))


def not_of_the_call(alignment: Alignment) -> str:
    """The engines whose graph is not that of their plain call; "" where there is none."""
    if not alignment.altered:
        return ""
    text = _(
        "not judged: recording changed the results of {engines}, whose graph shows another computation"
    )
    return text.format(engines=named(alignment.altered))


def contradictions(alignment: Alignment) -> str:
    """What is said of single ops where no result differs: other values, or values misread."""
    misread = [node for node in alignment.contradictions if node.reason == "refuted"]
    others = len(alignment.contradictions) - len(misread)
    if others == 1:
        return _("no result differs, but 1 op gives another value")
    if others:
        return _("no result differs, but {n} ops give other values").format(n=others)
    if len(misread) == 1:
        return _("no result differs; the value of 1 op was misread here and is not compared")
    text = _("no result differs; the values of {n} ops were misread here and are not compared")
    return text.format(n=len(misread))


def where_they_differ(alignment: Alignment) -> str:
    """The first divergence; where there is none, what keeps the graphs from being the same."""
    if alignment.altered:
        return not_of_the_call(alignment)
    if alignment.divergence:
        return first_divergence(alignment)
    if alignment.contradictions:
        return contradictions(alignment)
    doubt = not_compared(alignment) or (unproven(alignment) if alignment.unproven else "")
    return _("none; {doubt}").format(doubt=doubt) if doubt else _("none")
