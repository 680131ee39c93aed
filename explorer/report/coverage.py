"""How much of two graphs is paired, and which results were compared, in words."""

from explorer.model.alignment import Alignment, Count

LEGEND = "op nodes that are paired / steps inside one op of the other graph / unpaired"
"""What the three numbers of ``in_short`` count."""


def counted(count: Count) -> str:
    """The op nodes of a phase: "12 paired, 2 inside, 1 unpaired"."""
    return f"{count.paired} paired, {count.inside} inside, {count.unpaired} unpaired"


def in_short(left: Count, right: Count) -> str:
    """The op nodes of a phase of both graphs: "12/2/1 · 13/0/0"."""
    return " · ".join(f"{count.paired}/{count.inside}/{count.unpaired}" for count in (left, right))


def unproven(alignment: Alignment) -> str:
    """The number of steps inside an op of the other graph whose own values nothing confirms."""
    number = alignment.unproven
    steps = "1 step" if number == 1 else f"{number} steps"
    return f"{steps} inside one op of the other graph, with values that nothing confirms"


def not_compared(alignment: Alignment) -> str:
    """The results that depend on a random draw on both sides; "" where none does."""
    if not alignment.drawn:
        return ""
    names = ", ".join(alignment.drawn)
    return f"not compared by value, since each engine draws its own random numbers: {names}"
