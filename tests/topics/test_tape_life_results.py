"""Every verdict on what a gradient graph keeps, by figures that are written down."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.question import Question
from explorer.topics.tape_life.questions import GUIDE, LIFETIME, REUSED, TOPIC
from explorer.workers.workers import Workers
from tests.support.topics import judge, measured_for_claims, written

CLAIM = TOPIC.claims[70]
GRAPH = "mindspore-graph"


def kept(own_bytes: int, others: int = 12) -> Figures:
    """A graph that keeps some bytes of its own when its forward part has ended."""
    tensors = bool(own_bytes) + bool(others)
    forward = {"phase": "forward", "tensors": tensors, "bytes": own_bytes}
    return {"steps": [{**forward, "of inputs and parameters": others}]}


def called(third: Any) -> Figures:
    """The gradient function of x³, with what it gives of (1, 2) at its second call."""
    return {"callable": True, "inputs": [[2.0], [1.0, 2.0]], "gradients": [[12.0], third]}


RIGHT, STALE = called([3.0, 12.0]), called([12.0, 12.0])


@pytest.mark.row(70)
@pytest.mark.parametrize(
    ("life", "reused", "verdict", "advice"),
    [
        (kept(4), RIGHT, "does_not_hold", "keeps them within a call"),
        (kept(0), RIGHT, "holds", ""),
        (kept(0, 0), RIGHT, "holds", ""),
        (kept(0), STALE, "does_not_hold", ""),
    ],
)
def test_results_are_kept_where_bytes_are_that_are_no_input_s(
    life: Figures, reused: Figures, verdict: str, advice: str
) -> None:
    world: dict[tuple[Question, str], Figures] = {(LIFETIME, GRAPH): life, (REUSED, GRAPH): reused}
    ruling = judge(CLAIM, written(world))
    assert ruling.verdict == verdict
    assert advice in ruling.advice


@pytest.mark.mindspore
def test_the_guide_s_net_hands_one_difference_to_its_backward(workers: Workers) -> None:
    measured = measured_for_claims(workers, [CLAIM])
    life = measured[LIFETIME.on(GUIDE).measurement_name(GRAPH)].figures
    ending = [step for step in life["steps"] if step["phase"] == "forward"][-1]
    # 2 (logits - y) is one float32 of four bytes; x, or the weight, is three.
    assert (ending["bytes"], ending["of inputs and parameters"]) == (4, 12)
    ruling = judge(CLAIM, measured)
    assert ruling.verdict == "does_not_hold"
    assert "[3, 12, 27], then [0.75, 3, 12], then [[3, 12], [27, 48]]" in ruling.evidence
