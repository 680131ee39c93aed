"""What is told of scalers and scaled gradients, where every figure is known."""

from typing import Any

from explorer.model.measurement import Figures
from explorer.topics.loss_scale.inputs import BATCHES, FACTOR, turn
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    LIFE,
    TOPIC,
)
from tests.support.tellings import (
    Answers,
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


def test_lives_that_differ_have_their_own_columns() -> None:
    telling = told(
        TOPIC, {(LIFE, GRAPH): life(8.0), (LIFE, TAPE): life(16.0), (LIFE, "torch"): life(8.0)}
    )
    assert len(table_of(telling, "gradient").columns) == 2 + 3 * 3
    assert f"at 0 of {len(BATCHES)} steps" in telling.findings[-1]
    (alone,) = told(TOPIC, {(LIFE, "torch"): life(8.0)}).findings
    assert "same scale" not in alone


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
