"""What is told of scalers and scaled gradients, where every figure is known."""

from typing import Any

from explorer.model.measurement import Figures
from explorer.topics.loss_scale.inputs import BATCHES, DTYPES, EXPONENTS, FACTOR, WINDOW, turn
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    GUIDE_EXAMPLE,
    LIFE,
    LIMITS,
    SWEEP,
    TOPIC,
    UNSCALING,
)
from tests.support.tellings import (
    Answers,
    chart_of,
    column,
    lines_of,
    rows_by_first,
    table_of,
    told,
)

REFUSED = {"raised": "ValueError", "message": "no such thing."}
GRAPH, TAPE = "mindspore-graph", "mindspore-tape"


def life(first_scale: float) -> Figures:
    """One overflow that halves the scale, then steps at one scale."""
    turns = [turn(first_scale, first_scale / FACTOR, False, False)]
    scale = first_scale / FACTOR
    turns += [turn(scale, scale, True, True) for _ in BATCHES[1:]]
    return {"turns": turns}


def test_a_life_is_told_step_by_step() -> None:
    telling = told(
        TOPIC, {(LIFE, GRAPH): life(8.0), (LIFE, TAPE): life(8.0), (LIFE, "torch"): life(8.0)}
    )
    of_mindspore, of_torch, both = telling.findings
    for finding in (of_mindspore, of_torch):
        assert f"of {len(BATCHES)} steps, 1 overflow. It skips 1 of them" in finding
        assert f"by {FACTOR} after 1. The scale grows 0 times, 0 of them after {WINDOW}" in finding
    assert f"at {len(BATCHES)} of {len(BATCHES)} steps" in both
    table = table_of(telling, "gradient")
    assert table.columns[0] == "step"
    assert column(table, "gradient") == list(BATCHES)
    assert column(table, "step") == list(range(len(BATCHES)))
    names = [name.removesuffix(" scale") for name in table.columns[2::3]]
    assert len(names) == 2
    for name in names:
        assert column(table, f"{name} scale")[:3] == [8.0, 4.0, 4.0]
        assert column(table, f"{name} overflow")[:2] == [True, False]
        assert column(table, f"{name} updates")[:2] == [False, True]
    lines = lines_of(chart_of(telling, "life"))
    assert list(lines) == names
    assert all([line[0.0], line[1.0]] == [8.0, 4.0] for line in lines.values())
    assert chart_of(telling, "life").log == ("y",)


def test_lives_that_differ_have_their_own_columns() -> None:
    telling = told(
        TOPIC, {(LIFE, GRAPH): life(8.0), (LIFE, TAPE): life(16.0), (LIFE, "torch"): life(8.0)}
    )
    assert len(table_of(telling, "gradient").columns) == 2 + 3 * 3
    assert f"at 0 of {len(BATCHES)} steps" in telling.findings[-1]
    (alone,) = told(TOPIC, {(LIFE, "torch"): life(8.0)}).findings
    assert "same scale" not in alone


def test_the_lowest_and_the_highest_scale_are_told() -> None:
    stays = {"down": [4.0, 2.0, 1.0, 1.0], "up": [2.0, "Infinity", 4.0]}
    falls = {"down": [4.0, 2.0, 1.0, 0.5], "up": [2.0, 8.0, 4.0]}
    telling = told(TOPIC, {(LIMITS, TAPE): stays, (LIMITS, "torch"): falls})
    stopped, falling = telling.findings
    assert "from 4 to 1 within 3 steps and then stays there" in stopped
    assert "from 2 to inf" in stopped.lower() or "from 2 to ∞" in stopped
    assert "from 4 to 0.5 in 3 steps and goes on falling" in falling
    assert "from 2 to 8." in falling
    table = table_of(telling, "scale after each step")
    assert table.columns == ("scaler", "at every step", "scale after each step")
    assert column(table, "at every step") == ["overflow", "growth"] * 2
    assert table.rows[2][2] == "[4, 2, 1, 0.5]"
    lines = lines_of(chart_of(telling, "floor"))
    assert [list(line.items())[-1] for line in lines.values()] == [(3.0, 1.0), (3.0, 0.5)]


def test_a_check_that_is_wrong_or_refuses_is_told() -> None:
    right: dict[str, Any] = {"zeros": True, "inf": False, "nan": False}
    wrong = {**right, "nan": True}
    refusing = {**right, "inf": REFUSED, "nan": REFUSED}
    answers: Answers = {
        (FINITENESS, GRAPH): right,
        (FINITENESS, TAPE): wrong,
        (FINITENESS, "torch"): refusing,
    }
    telling = told(TOPIC, answers)
    of_tape, of_torch = telling.findings
    assert "is wrong about nan (" in of_tape
    assert "refuses 2 of 3 pairs" in of_torch
    assert of_torch.endswith("ValueError: no such thing.")
    rows = rows_by_first(table_of(telling, "gradients"))
    assert list(rows) == ["inf", "nan", "zeros"]
    assert rows["nan"] == (False, True, "ValueError: no such thing.")
    assert rows["zeros"] == (True, True, True)
    alone = told(TOPIC, {(FINITENESS, TAPE): wrong})
    assert rows_by_first(table_of(alone, "gradients"))["zeros"] == ("-", True, "-")


def test_errors_of_unscaling_stand_by_rising_scale() -> None:
    figures = {"error": {"1024": 0.0, "3": 1.25e-7}, "refused": {"below 1": REFUSED, "above": 2.0}}
    telling = told(TOPIC, {(UNSCALING, "torch"): figures})
    (finding,) = telling.findings
    assert "relative error of at most 1.2e-07 at scale 3, 0 at scale 1024 (PyTorch)" in finding
    table = table_of(telling, "measurement or call")
    assert table.columns == ("framework", "measurement or call", "result")
    assert table.rows == (
        ("PyTorch", "greatest relative error at scale 3", 1.25e-7),
        ("PyTorch", "greatest relative error at scale 1024", 0.0),
        ("PyTorch", "below 1", "ValueError: no such thing."),
        ("PyTorch", "above", "accepted"),
    )


def test_what_is_lost_is_told_at_the_least_the_best_and_the_greatest_scale() -> None:
    count = len(EXPONENTS)
    lossy = {
        "underflow": [0.5, *[0.0] * (count - 1)],
        "overflow": [*[0.0] * (count - 1), 0.25],
        "error": [0.5, 0.125, *[0.25] * (count - 2)],
    }
    whole = {"underflow": [0.0] * count, "overflow": [0.0] * count, "error": [0.001] * count}
    figures = {DTYPES[0]: lossy, DTYPES[1]: whole, DTYPES[2]: whole}
    telling = told(TOPIC, {(SWEEP, "torch"): figures})
    of_lossy, of_whole, _ = telling.findings
    for words in (
        f"In {DTYPES[0]}, 50 % of the gradients underflow to 0 at a loss scale of 2^{EXPONENTS[0]}",
        f"25 % overflow at 2^{EXPONENTS[-1]}",
        f"The best scale is 2^{EXPONENTS[1]}: 0 % underflow",
        "error is 0.12 (",
    ):
        assert words in of_lossy
    assert f"In {DTYPES[1]}, no gradient is lost" in of_whole
    assert "error 0.001)" in of_whole
    table = table_of(telling, "share that underflows to 0")
    assert table.columns[:3] == ("dtype", "framework", "scale")
    assert table.rows[0] == (DTYPES[0], "PyTorch", f"2^{EXPONENTS[0]}", 0.5, 0.0, 0.5)
    assert column(table, "scale")[:3] == [f"2^{exponent}" for exponent in EXPONENTS[:9:4]]
    assert column(table, "share that overflows")[6] == 0.25
    shares = chart_of(telling, "shares")
    assert list(lines_of(shares)) == [
        f"{kind}, {DTYPES[0]}, PyTorch" for kind in lossy if kind != "error"
    ]
    assert shares.log == ("x",)
    # What has no line is named, or it would look forgotten.
    assert f" in {DTYPES[1]} (PyTorch), {DTYPES[2]} (PyTorch)." in shares.note
    error = chart_of(telling, "error")
    assert len(lines_of(error)) == 3
    assert error.log == ("x", "y")
    assert lines_of(error)[f"{DTYPES[0]}, PyTorch"][2.0 ** EXPONENTS[1]] == 0.125


def test_the_guide_s_example_has_its_four_figures_in_their_places() -> None:
    example: Figures = {
        "scaled": {"loss": 2.0, "gradient": [4.0]},
        "unscaled": {"loss": 1.0, "gradient": [3.0]},
        "all_finite": False,
    }
    telling = told(TOPIC, {(GUIDE_EXAMPLE, "torch"): example})
    assert rows_by_first(table_of(telling, "scaled gradient")) == {
        "PyTorch": ("2", "[4]", "1", "[3]", False)
    }
    (finding,) = telling.findings
    assert "the loss 2 and the gradient [4], not all finite; unscaled they are 1 and [3]" in finding
    assert "not all finite" in finding
