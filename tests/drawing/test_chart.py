"""Charts as data: what is drawn for which record, and the same bytes for the same record."""

import re
from typing import Literal
from xml.etree import ElementTree

import msgspec
import pytest

from explorer.drawing.chart import (
    DARK_OF,
    MOST_TICKS,
    NOTE_LINE,
    chart_png,
    chart_svg,
    in_dark,
    specification,
)
from explorer.model.study import Chart, Series

ChartKind = Literal["line", "steps", "points", "bars"]

LINE = Chart(
    name="underflow",
    title="Share <that> underflows",
    kind="line",
    x="loss scale",
    y="share",
    log=("x",),
    series=(
        Series("float16", (1.0, 2.0, 4.0), (0.9, 0.5, None)),
        Series("bfloat16 & more", (1.0, 2.0, 4.0), (0.3, 0.2, 0.1)),
    ),
    note="Less is better.",
)
BARS = Chart(
    name="bytes",
    title="Bytes",
    kind="bars",
    x="",
    y="bytes",
    series=(Series("torch-tape", ("after the forward pass", "after backward"), (100.0, 0.0)),),
)


def chart_of(kind: ChartKind, *series: Series, log: tuple[Literal["x", "y"], ...] = ()) -> Chart:
    return Chart(name="c", title="c", kind=kind, x="x", y="y", log=log, series=series)


def test_a_value_that_is_missing_is_not_drawn() -> None:
    drawn = [(row["series"], row["x"]) for row in specification(LINE)["data"]["values"]]
    assert ("float16", 4.0) not in drawn
    assert len(drawn) == 5


def test_a_logarithmic_axis_is_marked_in_powers_of_two_or_ten_and_at_some_of_many() -> None:
    axis = specification(LINE)["encoding"]["x"]
    assert axis["scale"]["base"] == 2
    assert axis["axis"]["values"] == [1.0, 2.0, 4.0]
    of_ten = chart_of("points", Series("s", (1.0, 2.0), (0.02, 30.0)), log=("y",))
    axis = specification(of_ten)["encoding"]["y"]
    assert axis["scale"]["base"] == 10
    assert axis["axis"]["values"] == [0.01, 0.1, 1.0, 10.0, 100.0]
    wide = chart_of("line", Series("s", (2.0**-40, 2.0**40), (1.0, 2.0)), log=("x",))
    ticks = specification(wide)["encoding"]["x"]["axis"]["values"]
    assert len(ticks) <= MOST_TICKS + 1
    assert ticks[0] == 2.0**-40
    # It has no place for what is not positive.
    zero = chart_of("points", Series("s", (1.0, 2.0), (0.0, 10.0)), log=("y",))
    assert [row["y"] for row in specification(zero)["data"]["values"]] == [10.0]


@pytest.mark.parametrize("base", [2.0, 10.0])
@pytest.mark.parametrize("powers", [1, 5, MOST_TICKS, MOST_TICKS + 1, 25, 33])
def test_everything_lies_within_a_logarithmic_axis(base: float, powers: int) -> None:
    numbers = (base**-4, base ** (powers - 4))
    chart = chart_of("line", Series("s", numbers, (1.0, 2.0)), log=("x",))
    first, last = specification(chart)["encoding"]["x"]["scale"]["domain"]
    assert first <= numbers[0] < numbers[1] <= last


def test_bars_with_long_names_and_many_bars_lie_down_and_all_start_at_zero() -> None:
    assert specification(BARS)["encoding"]["y"]["field"] == "x"
    short = chart_of("bars", Series("s", ("a", "b"), (1.0, 100.0)), log=("y",))
    encoding = specification(short)["encoding"]
    assert encoding["x"]["field"] == "x"
    assert encoding["y"]["scale"] == {"zero": True}, "whatever scale is asked for"
    names = tuple("abcdefghi")
    many = chart_of("bars", Series("s", names, (1.0,) * len(names)))
    assert specification(many)["encoding"]["y"]["sort"] == list(names)


def test_a_note_is_broken_into_lines_at_its_words() -> None:
    chart = msgspec.structs.replace(LINE, note="Less is better. " * 12)
    lines = specification(chart)["title"]["subtitle"]
    assert max(map(len, lines)) <= NOTE_LINE
    assert " ".join(lines) == chart.note.strip()


def test_series_of_one_value_are_told_apart_by_colour_shape_and_dashes() -> None:
    encoding = specification(LINE)["encoding"]
    assert {"color", "shape", "strokeDash"} <= encoding.keys()
    assert len(set(encoding["color"]["scale"]["range"])) == 2
    # A single one needs no legend; steps change after their point, and numbers stand at their ticks.
    assert encoding["color"]["legend"] is not None
    steps = specification(chart_of("steps", Series("s", (1.0, 2.0), (1.0, 2.0))))
    assert steps["encoding"]["color"]["legend"] is None
    assert steps["mark"]["interpolate"] == "step-after"
    assert steps["config"]["axis"]["labelFlush"] is False


@pytest.mark.slow
@pytest.mark.parametrize("chart", [LINE, BARS], ids=lambda chart: chart.name)
def test_the_svg_is_well_formed_says_what_it_is_and_has_the_same_bytes(chart: Chart) -> None:
    svg = chart_svg(chart)
    root = ElementTree.fromstring(svg)
    assert root.findtext("{http://www.w3.org/2000/svg}title") == chart.title
    assert root.get("role") == "img"
    assert b"<script" not in svg
    assert chart_svg(chart) == svg
    assert chart_png(chart).startswith(b"\x89PNG")


@pytest.mark.slow
def test_every_light_colour_has_a_dark_one() -> None:
    drawn = chart_svg(LINE).decode()
    used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', drawn))
    assert used
    assert all(f'="{colour}"]' in drawn for colour in used)


@pytest.mark.parametrize("chart", [LINE, BARS])
def test_no_light_colour_is_left_on_dark_paper(chart: Chart) -> None:
    light = specification(chart)
    dark = in_dark(light)
    assert dark["data"] == light["data"]
    assert any(colour in str(light) for colour in DARK_OF)
    assert not any(colour in str(dark) for colour in DARK_OF)


def test_points_at_one_name_stand_side_by_side() -> None:
    names = ("relu at 0", "abs at 0")
    one = Series("one", names, (1.0, 0.0))
    both = chart_of("points", one, Series("other", names, (1.0, 0.5)))
    encoding = specification(both)["encoding"]
    # Or the second of two points at one height would hide the first.
    assert encoding["xOffset"]["field"] == "series"
    assert encoding["x"]["axis"]["tickBand"] == "extent"
    numbers = Series("one", (1.0, 2.0), (1.0, 0.0)), Series("other", (1.0,), (1.0,))
    for chart in (chart_of("points", one), chart_of("points", *numbers)):
        assert "xOffset" not in specification(chart)["encoding"]


def test_lines_that_lie_on_each_other_are_one_under_both_names() -> None:
    moments = (0.0, 1.0, 2.0)
    chart = msgspec.structs.replace(
        LINE,
        series=(
            Series("one", moments, (1.0, 2.0, None)),
            Series("other", moments, (1.0, 3.0, None)),
            Series("third", moments, (1.0, 2.0, None)),
        ),
    )
    drawn = {row["series"] for row in specification(chart)["data"]["values"]}
    assert drawn == {"one and third", "other"}
    # Bars stand beside each other, and each keeps its name.
    bars = msgspec.structs.replace(chart, kind="bars")
    assert len({row["series"] for row in specification(bars)["data"]["values"]}) == 3


def test_lines_that_only_rounding_tells_apart_are_one() -> None:
    def drawn(distance: float, log: tuple[Literal["x", "y"], ...] = ()) -> int:
        lines = (
            Series("one", (0.0, 1.0), (1.0, 1000.0)),
            Series("other", (0.0, 1.0), (1.0 + distance, 1000.0)),
        )
        chart = msgspec.structs.replace(LINE, series=lines, log=log)
        return len({row["series"] for row in specification(chart)["data"]["values"]})

    # Of a plot 300 pixels high, half a pixel is 1.67 of 999: less cannot be seen.
    assert drawn(1.6) == 1
    assert drawn(1.7) == 2
    # On a logarithmic axis the same distance is far at 1.
    assert drawn(1.6, log=("y",)) == 2
    assert drawn(1e-3, log=("y",)) == 1
    gap = (Series("one", (0.0, 1.0), (1.0, None)), Series("other", (0.0, 1.0), (1.0, 1.0)))
    chart = msgspec.structs.replace(LINE, series=gap)
    assert len({row["series"] for row in specification(chart)["data"]["values"]}) == 2


def test_lines_that_are_drawn_as_one_keep_their_names_in_the_legend() -> None:
    lines = (Series("one", (0.0, 1.0), (1.0, 2.0)), Series("other", (0.0, 1.0), (1.0, 2.0)))
    encoding = specification(msgspec.structs.replace(LINE, series=lines))["encoding"]
    assert encoding["color"]["scale"]["domain"] == ["one and other"]
    assert encoding["color"]["legend"] is not None
    assert encoding["shape"]["legend"] is not None
