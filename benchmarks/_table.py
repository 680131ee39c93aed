"""The table of figures: the median with its spread, the bar, and whether it is kept."""

from collections.abc import Sequence

from benchmarks._figures import Figure

HEADS = ("benchmark", "figure", "basis", "median", "lowest to highest", "rounds", "bar", "")
"""The columns; the last one says how the median stands to the bar."""

RIGHT = ("median", "rounds", "bar")
"""The columns of numbers, which stand at the right."""


def table(figures: Sequence[Figure]) -> str:
    """A line for each figure, notes below their figures, and how many bars were kept."""
    rows = [HEADS, *(_cells(figure) for figure in figures)]
    lines = aligned(rows, RIGHT)
    text = [lines[0]]
    for figure, line in zip(figures, lines[1:], strict=True):
        text.append(line)
        if figure.note:
            text.append(f"    {figure.note}")
    return "\n".join([*text, "", summary(figures)])


def summary(figures: Sequence[Figure]) -> str:
    """How many bars were kept and missed, and what was not measured."""
    verdicts = [figure.verdict for figure in figures]
    kept, missed = verdicts.count("kept"), verdicts.count("missed")
    text = f"{len(figures)} figures; {kept} of {kept + missed} bars kept"
    absent = verdicts.count("not measured")
    return f"{text}, {absent} not measured" if absent else text


def aligned(rows: Sequence[tuple[str, ...]], right: Sequence[str] = ()) -> list[str]:
    """Lines in which the cells of a column begin, or in ``right`` columns end, below each other.

    The first row holds the heads.
    """
    heads = rows[0]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for head, cell, width in zip(heads, row, widths, strict=True):
            cells.append(cell.rjust(width) if head in right else cell.ljust(width))
        lines.append("  ".join(cells).rstrip())
    return lines


def quantity(value: float | None, unit: str) -> str:
    """A number to three digits with its unit, and "–" for None; times below 0.1 s are told in ms."""
    if value is None:
        return "–"
    if unit == "s" and 0 < abs(value) < 0.1:
        return f"{digits(value * 1e3)} ms"
    if unit == "×":
        return f"×{digits(value)}"
    return f"{digits(value)} {unit}".rstrip()


def digits(value: float) -> str:
    """A number to three digits, whole from 100 on."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _cells(figure: Figure) -> tuple[str, ...]:
    rounds = figure.rounds
    extent = ""
    if len(rounds) > 1:
        extent = f"{quantity(min(rounds), figure.unit)} to {quantity(max(rounds), figure.unit)}"
    return (
        figure.benchmark,
        figure.name,
        figure.basis,
        quantity(figure.median, figure.unit),
        extent,
        str(len(rounds)),
        _bar(figure),
        figure.verdict,
    )


def _bar(figure: Figure) -> str:
    if figure.bar is None:
        return ""
    sign = "≤" if figure.wanted == "low" else "≥"
    return f"{sign} {quantity(figure.bar, figure.unit)}"
