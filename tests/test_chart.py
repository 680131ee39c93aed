"""Charts as data: what is drawn for which record, and that the picture is the same for the same
record.
"""

import re
from xml.etree import ElementTree

import pytest

from explorer.drawing.chart import chart_png, chart_svg, specification
from explorer.model.study import Chart, Series

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


def test_a_value_that_is_missing_is_not_drawn() -> None:
    drawn = [(row["series"], row["x"]) for row in specification(LINE)["data"]["values"]]
    assert ("float16", 4.0) not in drawn
    assert len(drawn) == 5


def test_a_logarithmic_axis_of_powers_of_two_is_marked_in_powers_of_two() -> None:
    axis = specification(LINE)["encoding"]["x"]
    assert axis["scale"]["base"] == 2
    assert axis["axis"]["values"] == [1.0, 2.0, 4.0]


def test_a_logarithmic_axis_has_no_place_for_what_is_not_positive() -> None:
    chart = Chart(
        name="a",
        title="a",
        kind="points",
        x="x",
        y="y",
        log=("y",),
        series=(Series("s", (1.0, 2.0), (0.0, 10.0)),),
    )
    assert [row["y"] for row in specification(chart)["data"]["values"]] == [10.0]


def test_bars_with_long_names_lie_down() -> None:
    assert specification(BARS)["encoding"]["y"]["field"] == "x"
    short = Chart(
        name="b", title="b", kind="bars", x="", y="y", series=(Series("s", ("a", "b"), (1.0, 2.0)),)
    )
    assert specification(short)["encoding"]["x"]["field"] == "x"


def test_bars_start_at_zero_whatever_scale_is_asked_for() -> None:
    chart = Chart(
        name="b",
        title="b",
        kind="bars",
        x="",
        y="y",
        log=("y",),
        series=(Series("s", ("a", "b"), (1.0, 100.0)),),
    )
    assert specification(chart)["encoding"]["y"]["scale"] == {"zero": True}


def test_series_of_one_value_are_told_apart_by_colour_shape_and_dashes() -> None:
    encoding = specification(LINE)["encoding"]
    assert {"color", "shape", "strokeDash"} <= encoding.keys()
    assert len(set(encoding["color"]["scale"]["range"])) == 2


@pytest.mark.parametrize("chart", [LINE, BARS], ids=lambda chart: chart.name)
def test_the_svg_is_well_formed_says_what_it_is_and_is_the_same_twice(chart: Chart) -> None:
    drawn = chart_svg(chart)
    root = ElementTree.fromstring(drawn)
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert (title.text, root.get("role")) == (chart.title, "img")
    assert b"<script" not in drawn
    assert drawn == chart_svg(chart)


def test_every_light_colour_has_a_dark_one() -> None:
    drawn = chart_svg(LINE).decode()
    used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', drawn))
    assert used
    assert all(f'="{colour}"]' in drawn for colour in used)


def test_the_png_is_a_png() -> None:
    assert chart_png(BARS).startswith(b"\x89PNG")
