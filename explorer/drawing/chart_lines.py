"""Draws lines that lie on each other as one, so that none is hidden."""

import math

import msgspec

from explorer.model.study import Chart, Series

Heights = dict[float, float]
"""Where a value is drawn, as a share of the plot's height."""


def with_equal_lines_joined(chart: Chart, height: int) -> Chart:
    """The chart with lines that lie on each other throughout as one, under all their names.

    ``height`` is that of the plot in pixels: lines that are nowhere half a pixel apart look like
    one, whatever their last digits are.
    """
    heights = _heights(chart)
    groups: list[list[Series]] = []
    for line in chart.series:
        for group in groups:
            if _lie_on_each_other(group[0], line, heights, 0.5 / height):
                group.append(line)
                break
        else:
            groups.append([line])

    lines = []
    for group in groups:
        names = " and ".join(line.name for line in group)
        lines.append(msgspec.structs.replace(group[0], name=names))
    return msgspec.structs.replace(chart, series=tuple(lines))


def _heights(chart: Chart) -> Heights:
    """Where the values of "y" are drawn: the least at 0, the greatest at 1."""
    positions: Heights = {}
    for series in chart.series:
        for value in series.y:
            if value is None or not math.isfinite(value):
                continue
            if "y" not in chart.log:
                positions[value] = value
            elif value > 0:  # a logarithm has no place for others
                positions[value] = math.log(value)
    if not positions:
        return {}
    least = min(positions.values())
    span = max(positions.values()) - least or 1.0
    return {value: (position - least) / span for value, position in positions.items()}


def _lie_on_each_other(one: Series, other: Series, heights: Heights, limit: float) -> bool:
    """Whether two lines are nowhere further apart than ``limit``."""
    if one.x != other.x:
        return False
    pairs = zip(one.y, other.y, strict=True)
    return all(_are_near(first, second, heights, limit) for first, second in pairs)


def _are_near(one: float | None, other: float | None, heights: Heights, limit: float) -> bool:
    if one == other:
        return True
    if one is None or other is None or not {one, other} <= heights.keys():
        return False
    return abs(heights[one] - heights[other]) < limit
