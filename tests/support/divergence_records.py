"""Divergences as causes read them: their ends and rows, with what a test is not about filled in."""

from explorer.model.divergence import End, Inputs, OtherValue, Place, Reading, Row
from explorer.model.graph import Phase


def end(node: str | None) -> End:
    """One end of a divergence, at a node or at none."""
    source = "" if node is None else "net.py:1"
    return End(node=node, source=source, value=Reading("mean", (), (0.0,)))


def row(node: str = "", count: int = 1) -> Row:
    """A row of ops, of which the last is a node where one is named."""
    return Row(first=Place(label="op"), last="op", count=count, end=node)


def other_value(
    left: str = "n1",
    right: str = "n1",
    *,
    phase: Phase = "forward",
    rows: tuple[Row, Row] | None = None,
    inputs: Inputs = Inputs(),  # noqa: B008 - a frozen record
) -> OtherValue:
    """Two nodes that give different values, each a row of its own."""
    of_one = row(left), row(right)
    return OtherValue(phase=phase, ends=(end(left), end(right)), rows=rows or of_one, inputs=inputs)
