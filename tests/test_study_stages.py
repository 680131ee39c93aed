"""The study of stages: figures of the compiler's passes against what is known of the nets, and what
it says without figures.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.engines.mindspore.ir import parse
from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.model.study import StudyRecord
from explorer.scenario.contract import find
from explorer.topics import stages
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure
from explorer.topics.stages.passes import PHASES, calls_written, counts, fingerprint, written
from explorer.topics.stages.telling import tell
from explorer.topics.studying import run, target
from explorer.workers.workers import Workers
from tests.measured_once import remember

SAMPLES = Path(__file__).resolve().parent / "ir_samples"


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    looked_at = target(stages.STUDY, None, "cpu")
    made = run(stages.STUDY, looked_at, workers)
    remember(stages.measurements(looked_at), made.measured)
    return made


@pytest.fixture(scope="module")
def figures(record: StudyRecord) -> Callable[[str], dict[str, Any]]:
    return lambda name: record.figures[f"stages.{name}"]


def test_everything_is_measured(record: StudyRecord) -> None:
    assert {name: each.error for name, each in record.measured.items() if each.error} == {}
    assert record.scenario == "dense_mse"


def test_the_derivative_appears_in_one_pass_and_shrinks_in_the_next_ones(
    figures: Callable[[str], dict[str, Any]],
) -> None:
    passes = {row["pass"]: row for row in figures("gradient_passes.mindspore-graph")["passes"]}
    order = list(passes)
    expands = order.index("opt_a_r1_j0_34_meta_fg_expand")
    assert all(passes[name]["backward"] == 0 for name in order[:expands])
    assert passes[order[expands]]["backward"] > passes["validate"]["backward"] > 0
    assert passes[order[expands]]["vanished"]["J"] == 1
    assert passes[order[expands]]["graphs"] > passes["validate"]["graphs"] == 1
    assert order[0] == "bootstrap"
    assert order[-1] == "validate"


def test_the_optimizer_joins_the_graph_of_a_training_step(
    figures: Callable[[str], dict[str, Any]],
) -> None:
    step, gradient = (
        figures("training_passes.mindspore-graph")["passes"],
        figures("gradient_passes.mindspore-graph")["passes"],
    )
    assert all(row["update"] == 0 for row in gradient)
    assert all(row["update"] == 2 for row in step[1:]), "the momentum update and the count of steps"
    assert len(figures("gradient_passes.mindspore-graph")["written"]) == 4, (
        "dense layer, squeeze, loss, and its truth"
    )


def test_the_graph_does_not_depend_on_the_values(figures: Callable[[str], dict[str, Any]]) -> None:
    for name in ("other_values", "branch"):
        one, other = figures(f"{name}.mindspore-graph").values()
        assert one["fingerprint"] == other["fingerprint"]
        assert one["gradient"] != other["gradient"]
        assert not one["compiled again"]
        assert not other["compiled again"]


def test_the_tape_of_a_branch_is_the_side_taken_and_the_graph_holds_both(
    figures: Callable[[str], dict[str, Any]],
) -> None:
    for engine, exponential in (("torch", "ExpBackward0"), ("mindspore-tape", "Exp")):
        one, other = figures(f"branch.{engine}").values()
        assert exponential not in one["tape"]
        assert exponential in other["tape"]
    held = figures("branch.mindspore-graph")["inputs times 1"]["operators"]
    assert held["Exp"] == 1
    assert held["Mul"] > 3


def test_gradients_of_the_branch_are_those_of_the_side_taken(
    figures: Callable[[str], dict[str, Any]],
) -> None:
    one, other = (each["gradient"][1][0] for each in figures("branch.mindspore-graph").values())
    assert one == pytest.approx([3 * w * x * x for w, x in ((0.5, 1.0), (1.5, -0.5), (-1.0, 2.0))])
    assert other == pytest.approx(
        [w * math.exp(-x) for w, x in ((0.5, 1.0), (1.5, -0.5), (-1.0, 2.0))], rel=1e-5
    )


def test_a_loop_is_one_body_in_the_graph_and_unrolled_on_the_tape(
    figures: Callable[[str], dict[str, Any]],
) -> None:
    graph = figures("loops.mindspore-graph")
    assert [each["compiled"] for each in graph["while"].values()] == [
        True,
        *[False] * (len(stages.LENGTHS) - 1),
    ]
    for length, each in graph["while"].items():
        n = int(length)
        assert each["gradient"][0] == pytest.approx([0.5**n, 2.0**n])
        assert each["gradient"][1] == pytest.approx([n * 0.5 ** (n - 1), 2 * n * 2.0 ** (n - 1)])
        for engine in ("torch", "mindspore-tape"):
            assert len(figures(f"loops.{engine}")["while"][length]) == n + 1
    assert graph["for"]["graphs"] == 1
    assert figures("loops.torch")["joint while"]["raised"] == "Unsupported"
    assert figures("loops.torch")["joint for"]["forward"].count("aten.mul.Tensor") == 4


def test_the_findings_are_made_of_the_figures(
    record: StudyRecord, figures: Callable[[str], dict[str, Any]]
) -> None:
    last = figures("gradient_passes.mindspore-graph")["passes"][-1]
    computing = last["forward"] + last["backward"]
    assert any(f"ends with {computing} operators" in finding for finding in record.findings)
    assert any("stays at 9 nodes" in finding for finding in record.findings)
    assert any("grows from 2 to 17 nodes" in finding for finding in record.findings)
    assert [chart.name for chart in record.charts] == [
        "gradient-passes",
        "training-passes",
        "loop-length",
    ]


def test_figures_are_the_same_at_every_run(record: StudyRecord, workers: Workers) -> None:
    own = stages.own()
    again = [
        stages.on(str(find(stages.DEFAULT)))["gradient_passes.mindspore-graph"],
        own["loops.mindspore-graph"],
        own["branch.torch"],
    ]
    for name, each in measure(again, workers).items():
        assert each.figures == record.figures[name], name


def test_without_figures_cells_say_why() -> None:
    telling = tell(Evidence({}))
    assert telling.findings == ()
    assert telling.charts == ()
    assert all(
        "-" in row or "not measured" in row for table in telling.tables for row in table.rows
    )
    lost = Measured(outcome="crashed", error=Failure("crashed", "exit code 3"))
    told = tell(Evidence({"stages.loops.torch": lost}))
    assert "crashed: exit code 3" in told.tables[1].rows[0]


def test_the_phases_of_a_program_add_up_to_its_nodes() -> None:
    module = parse(
        (SAMPLES / "branch_validate.ir").read_text(encoding="utf-8"), "branch_validate.ir"
    )
    counted = counts(module)
    assert sum(counted[name] for name in PHASES) == sum(
        len(graph.nodes) for graph in module.subgraphs
    )
    assert counted["forward"] > 0 < counted["backward"]
    assert calls_written(module, "no_such_function") == []


def test_a_fingerprint_ignores_the_compilers_numbers_and_sees_an_operator() -> None:
    text = (SAMPLES / "dense_validate.ir").read_text(encoding="utf-8")
    module = parse(text, "dense_validate.ir")
    entry = module.entry
    assert fingerprint(parse(text.replace(entry, f"9_{entry}"), "renumbered.ir")) == fingerprint(
        module
    )
    assert fingerprint(
        parse(text.replace("PrimFunc_Sub(", "PrimFunc_Add("), "changed.ir")
    ) != fingerprint(module)


def test_passes_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    for name in (
        "10_b_0003.ir",
        "9_a_0020.ir",
        "opt_substep_opt_a_r1_j0_3_a_1_0007.ir",
        "notes.ir",
    ):
        (tmp_path / name).touch()
    assert [path.name for path in written(tmp_path)] == [
        "10_b_0003.ir",
        "opt_substep_opt_a_r1_j0_3_a_1_0007.ir",
        "9_a_0020.ir",
    ]
