"""Stages of a gradient graph: the compiler's passes against what is known of the nets.

And the verdicts on them.
"""

import math
from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.measurement import Measured
from explorer.model.study import StudyRecord
from explorer.scenario.find import find
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import Question, Target
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    LENGTHS,
    LOOPS,
    OTHER_VALUES,
    TOPIC,
    TRAINING_PASSES,
)
from explorer.topics.studies import target
from explorer.workers.workers import Workers
from tests.support.tellings import check_every_failure, check_telling, telling_text
from tests.support.topics import World, judge, measured_for_claims, studied

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

FiguresOf = Callable[[Question, str], dict[str, Any]]
CLAIMS = TOPIC.claims

INPUTS = ((0.5, 1.0), (1.5, -0.5), (-1.0, 2.0))
"""Weight and input of the scenario branch_on_value, element by element."""


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    return studied("stages", workers)


@pytest.fixture(scope="module")
def figures_of(record: StudyRecord) -> FiguresOf:
    """Gives what a party answered to a question."""
    return lambda question, party: record.figures[question.measurement_name(party)]


def test_everything_is_measured(record: StudyRecord) -> None:
    errors = {name: outcome.error for name, outcome in record.measured.items() if outcome.error}
    assert errors == {}
    assert record.scenario == "dense_mse"


def test_the_derivative_appears_in_one_pass_and_shrinks_in_the_next_ones(
    figures_of: FiguresOf,
) -> None:
    passes = {step["pass"]: step for step in figures_of(GRADIENT_PASSES, GRAPH)["passes"]}
    order = list(passes)
    assert (order[0], order[-1]) == ("bootstrap", "validate")

    expansion = order.index("opt_a_r1_j0_34_meta_fg_expand")
    assert all(passes[name]["backward"] == 0 for name in order[:expansion])
    expanded, last = passes[order[expansion]], passes["validate"]
    assert expanded["backward"] > last["backward"] > 0
    assert expanded["vanished"]["J"] == 1
    assert expanded["graphs"] > last["graphs"] == 1


def test_the_optimizer_joins_the_graph_of_a_training_step(figures_of: FiguresOf) -> None:
    gradient = figures_of(GRADIENT_PASSES, GRAPH)
    _, *steps = figures_of(TRAINING_PASSES, GRAPH)["passes"]
    assert all(step["update"] == 0 for step in gradient["passes"])
    assert all(step["update"] == 2 for step in steps), "the momentum update and the count of steps"
    assert len(gradient["written"]) == 4, "dense layer, squeeze, loss, and its truth"


@pytest.mark.parametrize("question", [OTHER_VALUES, BRANCH], ids=lambda question: question.name)
def test_the_graph_does_not_depend_on_the_values(figures_of: FiguresOf, question: Question) -> None:
    one, other = figures_of(question, GRAPH).values()
    assert one["fingerprint"] == other["fingerprint"]
    assert one["gradient"] != other["gradient"]
    assert not one["compiled again"]
    assert not other["compiled again"]


@pytest.mark.parametrize(
    ("party", "exponential"), [("torch", "ExpBackward0"), ("mindspore-tape", "Exp")]
)
def test_the_tape_of_a_branch_is_the_side_taken(
    figures_of: FiguresOf, party: str, exponential: str
) -> None:
    one, other = figures_of(BRANCH, party).values()
    assert exponential not in one["tape"]
    assert exponential in other["tape"]


def test_the_graph_of_a_branch_holds_both_sides(figures_of: FiguresOf) -> None:
    operators = figures_of(BRANCH, GRAPH)["inputs times 1"]["operators"]
    assert operators["Exp"] == 1
    assert operators["Mul"] > 3


def test_gradients_of_the_branch_are_those_of_the_side_taken(figures_of: FiguresOf) -> None:
    one, other = (figures["gradient"][1][0] for figures in figures_of(BRANCH, GRAPH).values())
    assert one == pytest.approx([3 * w * x * x for w, x in INPUTS])
    assert other == pytest.approx([w * math.exp(-x) for w, x in INPUTS], rel=1e-5)


def test_a_loop_on_a_value_is_compiled_once_and_unrolled_on_the_tape(
    figures_of: FiguresOf,
) -> None:
    by_length = figures_of(LOOPS, GRAPH)["while"]
    compiled = [figures["compiled"] for figures in by_length.values()]
    assert compiled == [True, *[False] * (len(LENGTHS) - 1)]
    for length, figures in by_length.items():
        n = int(length)
        assert figures["gradient"][0] == pytest.approx([0.5**n, 2.0**n])
        assert figures["gradient"][1] == pytest.approx([n * 0.5 ** (n - 1), 2 * n * 2.0 ** (n - 1)])
        for party in ("torch", "mindspore-tape"):
            assert len(figures_of(LOOPS, party)["while"][length]) == n + 1


def test_a_loop_on_a_constant_is_unrolled_by_compilers_too(figures_of: FiguresOf) -> None:
    assert figures_of(LOOPS, GRAPH)["for"]["graphs"] == 1
    torch = figures_of(LOOPS, "torch")
    assert torch["joint while"]["raised"] == "Unsupported"
    assert torch["joint for"]["forward"].count("aten.mul.Tensor") == 4


def test_the_findings_are_made_of_the_figures(record: StudyRecord, figures_of: FiguresOf) -> None:
    last = figures_of(GRADIENT_PASSES, GRAPH)["passes"][-1]
    findings = "\n".join(record.findings)
    assert f"ends with {last['forward'] + last['backward']} operators" in findings
    assert "stays at 9 nodes" in findings
    assert "grows from 2 to 17 nodes" in findings
    assert "branch_on_value leaves other nodes for the negated inputs (4 and 3)" in findings
    names = [chart.name for chart in record.charts]
    assert names == ["gradient-passes", "training-passes", "loop-length"]


def test_figures_are_the_same_at_every_run(record: StudyRecord, workers: Workers) -> None:
    target = Target(str(find(str(TOPIC.default_scenario))))
    again = []
    for question in (GRADIENT_PASSES, LOOPS.by(GRAPH), BRANCH.by("torch")):
        again += question.measurements(target)
    for name, outcome in measure(again, workers).items():
        assert outcome.figures == record.figures[name], name


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_for_claims(workers, CLAIMS.values())


@pytest.mark.parametrize(
    ("row", "verdict", "cited"),
    [
        (27, "depends_on_style", "calls with other values that compile again: 0 of 4"),
        (28, "holds", "author wrote: 4 (MindSpore graph); operators in the final graph: 10:"),
    ],
)
def test_the_evidence_of_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: str, cited: str
) -> None:
    ruling = judge(CLAIMS[row], measured)
    assert ruling.verdict == verdict
    assert cited in ruling.evidence
    assert ruling.advice.endswith(".")


def another_graph_for_other_values(world: World) -> None:
    world[BRANCH, GRAPH]["inputs times -1"]["fingerprint"] = "0" * 12


def compiled_for_every_value(world: World) -> None:
    world[OTHER_VALUES, GRAPH]["inputs times 1"]["compiled again"] = True


def one_tape_for_all_values(world: World) -> None:
    tapes = world[BRANCH, "mindspore-tape"]
    tapes["inputs times -1"] = tapes["inputs times 1"]


def optimizer_outside(world: World) -> None:
    world[TRAINING_PASSES, GRAPH]["passes"][-1]["update"] = 0


def many_calls_written(world: World) -> None:
    world[GRADIENT_PASSES, GRAPH]["written"] *= 2


def more_calls_than_operators(world: World) -> None:
    world[GRADIENT_PASSES, GRAPH]["written"] *= 4


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (27, one_tape_for_all_values, "holds"),
        (27, another_graph_for_other_values, "does_not_hold"),
        (27, compiled_for_every_value, "does_not_hold"),
        (28, optimizer_outside, "does_not_hold"),
        (28, many_calls_written, "holds_with_changes"),
        (28, more_calls_than_operators, "does_not_hold"),
    ],
)
def test_another_world_gets_another_verdict(
    measured: dict[str, Measured], row: int, change: Callable[[World], None], verdict: str
) -> None:
    assert judge(CLAIMS[row], measured, change).verdict == verdict
    assert judge(CLAIMS[row], measured).verdict != verdict


def test_what_is_told_can_be_read_whichever_measurement_fails(record: StudyRecord) -> None:
    looked_at = target(TOPIC, None, "cpu")
    check_telling(telling_text(TOPIC, Evidence(record.measured, looked_at)))
    check_every_failure(TOPIC, record.measured, looked_at)
