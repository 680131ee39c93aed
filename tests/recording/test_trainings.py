"""Trainings that are recorded where they run, in every framework: the same bits, and each step."""

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.environments.known import home_of
from explorer.exploration.recordings import compared
from explorer.model.engines import Framework
from explorer.model.results import Leaf
from explorer.model.training import Training
from explorer.model.training_comparison import Question
from explorer.recording.files import read_training
from explorer.workers.environments import program_environment
from tests.recording.conftest import (
    NETS,
    SHAPES,
    TELLING,
    TRAININGS,
    Recorded,
    each,
    marked,
    printed_by,
    weights,
)
from tests.support.command_line import ran
from tests.support.needs import skip_without
from tests.support.recorded_files import values

PROGRAMS: dict[Framework, tuple[str, ...]] = {
    "torch": (
        "plain",
        "micro_batches",
        "mixed_precision",
        "scheduled_and_averaged",
        "sgd_in_groups",
    ),
    "mindspore": ("plain", "one_step_cell", "auxiliary", "micro_batches", "loss_scaling", "hooks"),
    "jax": (
        "eager",
        "compiled",
        "donated",
        "clipped",
        "two_passes",
        "compiled_passes",
        "two_nets",
        "two_optimizers",
        "injected",
        "given_rate",
        "closed_over",
        "module",
    ),
}

WEIGHTS = {
    "torch": set(weights("first", "norm", "middle", "last")),
    "mindspore": set(weights("first", "block.norm", "block.middle", "last")),
}

BUFFERS = {"torch": {"mean"}, "mindspore": {"block.norm.running_mean", "block.norm.running_var"}}

DATA = {"torch": ["x", "target"], "mindspore": ["x", "labels"]}

IN_PASSES: dict[Framework, str] = {
    "torch": "micro_batches",
    "mindspore": "micro_batches",
    "jax": "two_passes",
}
"""The program of each framework whose steps have two passes."""

CLIPPED: dict[Framework, tuple[str, float]] = {
    "torch": ("micro_batches", 0.1),
    "mindspore": ("micro_batches", 0.1),
    "jax": ("clipped", 0.5),
}
"""The program of each framework that clips its gradients, and to which norm."""

IN_EACH = [
    *marked("torch", "jax"),
    pytest.param("mindspore", marks=[pytest.mark.mindspore, pytest.mark.whole]),
]
"""The frameworks, of which the programs above are run in MindSpore by the whole run alone."""


def training_of(trainings: Recorded, framework: Framework, name: str) -> Training:
    """The training of a program, of which nothing is missing."""
    recordings = trainings(framework)
    if name in PROGRAMS[framework]:
        recordings.of_program(name)
    training = recordings.training(name)
    assert training.missing == ()
    return training


# What the program computes


@pytest.mark.parametrize(("framework", "name"), each(PROGRAMS, TRAININGS))
def test_losses_weights_and_random_numbers_are_the_same_bits_with_and_without(
    trainings: Recorded, framework: Framework, name: str
) -> None:
    without, recorded = trainings(framework).of_program(name)
    assert recorded == without
    steps = training_of(trainings, framework, name).steps
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert len(steps) >= (4 if framework == "jax" else 6)


@pytest.mark.parametrize("framework", marked(*PROGRAMS))
def test_nothing_is_left_in_the_framework_and_nothing_but_numpy_and_msgspec_is_needed(
    trainings: Recorded, framework: Framework
) -> None:
    computed = trainings(framework).computed
    before, after = computed["again" if framework == "jax" else "left_behind"]
    assert after == before
    if framework != "jax":
        assert computed["foreign"] == []
        names = PROGRAMS[framework]
        assert tuple(computed["programs"]) in (names, TELLING.get(TRAININGS[framework]))


# What does not work is said, and does not stop the training


@pytest.mark.parametrize("framework", marked("torch", "jax"))
def test_a_fault_of_the_recorder_is_a_warning_and_the_steps_before_are_kept(
    trainings: Recorded, framework: Framework
) -> None:
    recordings = trainings(framework)
    name = "micro_batches" if framework == "torch" else "eager"
    computed, warned = recordings.computed["failing"]
    assert computed == recordings.computed["programs"][name][0]
    assert warned == ["RecordingWarning"]
    training = recordings.training("failing/micro_batches" if framework == "torch" else "failing")
    assert "fault" in {missing.kind for missing in training.missing}
    if framework == "torch":
        assert [step.number for step in training.steps] == [1, 2]
        assert len(training.missing) == 1


@pytest.mark.parametrize("framework", marked("torch", "jax"))
def test_a_step_that_raises_is_left_out_and_the_file_has_those_before(
    trainings: Recorded, framework: Framework
) -> None:
    recordings = trainings(framework)
    if framework == "torch":
        assert recordings.computed["raises"] == "RuntimeError"
        training = recordings.training("raises")
        assert [missing.kind for missing in training.missing] == ["raised"]
    else:
        assert recordings.computed["raising"] == "TypeError"
        training = recordings.training("raising")
        assert "raised" in {missing.kind for missing in training.missing}
    assert [step.number for step in training.steps] == [1, 2]


# What is recorded


@pytest.mark.parametrize(
    ("framework", "name"),
    each({name: PROGRAMS[name] for name in ("torch", "mindspore")}, TRAININGS),
)
def test_each_step_has_every_weight_and_both_gradients_by_pytorch_s_names(
    trainings: Recorded, framework: Framework, name: str
) -> None:
    training, trained = training_of(trainings, framework, name), WEIGHTS[framework]
    if framework == "torch":
        assert {start.name for start in training.start} == trained | BUFFERS[framework]
    for step in training.steps:
        assert {leaf.name for leaf in step.weights} == trained
        assert {leaf.name for leaf in step.gradients} == trained
        assert {leaf.name for leaf in step.given} == (set() if step.skipped else trained)
        assert {leaf.name for leaf in step.buffers} == BUFFERS[framework]


@pytest.mark.parametrize(
    ("framework", "name"),
    each(
        {
            "torch": ("plain", "mixed_precision"),
            "mindspore": ("plain", "one_step_cell", "auxiliary", "loss_scaling"),
        },
        TRAININGS,
    ),
)
def test_losses_and_data_are_those_of_the_program_and_nothing_that_was_computed(
    trainings: Recorded, framework: Framework, name: str
) -> None:
    steps = training_of(trainings, framework, name).steps
    losses = trainings(framework).of_program(name)[0][0]
    assert [step.batches[0].loss for step in steps] == losses
    for step in steps:
        (batch,) = step.batches
        assert [leaf.name for leaf in batch.data] == DATA[framework]
        assert [leaf.value.shape for leaf in batch.data] == [(8, 6), (8,)]


@pytest.mark.parametrize("framework", IN_EACH)
def test_each_of_several_passes_has_its_data_its_loss_and_the_gradients_that_it_added(
    trainings: Recorded, framework: Framework
) -> None:
    step = training_of(trainings, framework, IN_PASSES[framework]).steps[1]
    one, other = step.batches
    halves = [values(batch.data)["x"] for batch in step.batches]
    assert [half.shape for half in halves] == [(4, 6), (4, 6)]
    assert (halves[0] != halves[1]).all()
    assert one.loss is not None
    assert other.loss is not None
    added, further = values(one.gradients), values(other.gradients)
    for name, gradient in values(step.gradients).items():
        np.testing.assert_allclose(added[name] + further[name], gradient, rtol=1e-4, atol=1e-6)
        assert not np.allclose(added[name], further[name])
    if framework == "torch":
        losses = trainings(framework).of_program(IN_PASSES[framework])[0][0]
        assert (one.loss + other.loss) * 2 == pytest.approx(losses[1], rel=1e-6)
        (batch,) = training_of(trainings, framework, "plain").steps[0].batches
        assert batch.gradients == ()
    if framework == "jax":
        assert step.loss == one.loss + other.loss
        (batch,) = training_of(trainings, framework, "compiled").steps[1].batches
        np.testing.assert_array_equal(np.concatenate(halves), values(batch.data)["x"])


@pytest.mark.parametrize("framework", IN_EACH)
def test_clipping_has_its_norm_and_the_gradients_before_and_after_it(
    trainings: Recorded, framework: Framework
) -> None:
    name, most = CLIPPED[framework]
    for step in training_of(trainings, framework, name).steps:
        gradients, given = values(step.gradients), values(step.given)
        norm = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients.values()))
        assert step.norm == pytest.approx(norm, rel=1e-5)
        for leaf, gradient in given.items():
            scaled = gradients[leaf] * min(1.0, most / norm)
            np.testing.assert_allclose(gradient, scaled, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    ("framework", "name", "due"),
    [
        pytest.param("torch", "micro_batches", [1, 4, 8], marks=pytest.mark.torch),
        pytest.param(
            "mindspore", "micro_batches", [3, 6], marks=[pytest.mark.mindspore, pytest.mark.whole]
        ),
    ],
)
def test_steps_that_are_due_have_their_graphs_and_all_else_is_the_same(
    trainings: Recorded, framework: Framework, name: str, due: list[int]
) -> None:
    recordings = trainings(framework)
    assert recordings.computed["with_graphs"] == recordings.computed["programs"][name][0]
    training, without = recordings.training("graphs"), recordings.training(name)
    graphs = {step.number: step.graph for step in training.steps if step.graph is not None}
    assert list(graphs) == due
    for graph in graphs.values():
        assert lint(graph) == []
        if framework == "torch":
            ops = [node.op for node in graph.nodes]
            assert "aten._foreach_norm.Scalar" in ops
            assert "aten.clone.default" not in ops  # what the recorder computes is not seen
    bare = [msgspec.structs.replace(step, graph=None) for step in training.steps]
    assert bare == list(without.steps)


@pytest.mark.parametrize(
    ("framework", "name", "rate", "decay"),
    [
        pytest.param("torch", "sgd_in_groups", 0.1, 0.1, marks=pytest.mark.torch),
        pytest.param(
            "mindspore",
            "one_step_cell",
            0.05,
            0.0,
            marks=[pytest.mark.mindspore, pytest.mark.whole],
        ),
    ],
)
def test_groups_have_their_settings_and_the_state_leads_to_the_next_weights(
    trainings: Recorded, framework: Framework, name: str, rate: float, decay: float
) -> None:
    first, second = training_of(trainings, framework, name).steps[:2]
    assert second.groups[0].settings["momentum"] == 0.9
    if framework == "torch":
        decayed, others = second.groups
        assert "first.weight" in decayed.names
        assert "first.bias" in others.names
        assert (decayed.settings["weight_decay"], others.settings["weight_decay"]) == (decay, 0)
    before, given = values(first.weights), values(second.given)
    momentum = values(first.state)["first.weight.momentum_buffer"]
    expected = 0.9 * momentum + given["first.weight"] + decay * before["first.weight"]
    state = values(second.state)["first.weight.momentum_buffer"]
    np.testing.assert_allclose(state, expected, rtol=1e-5, atol=1e-8)
    after = before["first.weight"] - rate * expected
    np.testing.assert_allclose(values(second.weights)["first.weight"], after, rtol=1e-5, atol=1e-7)


@pytest.mark.whole
@pytest.mark.mindspore
def test_a_scale_is_recorded_and_taken_off_what_is_given(trainings: Recorded) -> None:
    scaled = training_of(trainings, "mindspore", "loss_scaling").steps[0]
    assert scaled.scale == 256
    given = values(scaled.given)
    for name, gradient in values(scaled.gradients).items():
        np.testing.assert_array_equal(gradient / 256, given[name])


# PyTorch alone


@pytest.mark.torch
@pytest.mark.sample
@pytest.mark.whole
def test_what_is_compiled_is_compiled_once_and_computes_the_same(tmp_path: Path) -> None:
    computed = printed_by(NETS / "recorded_compiled.py", tmp_path)
    for without, recorded in computed.values():
        assert recorded == without
        assert recorded[1] == 1


@pytest.mark.torch
def test_losses_alone_are_recorded_once_all_else_needs_more_memory(trainings: Recorded) -> None:
    assert (
        trainings("torch").computed["full"]
        == trainings("torch").computed["programs"]["micro_batches"][0]
    )
    training = trainings("torch").training("full")
    assert [missing.kind for missing in training.missing] == ["full"]
    assert len(training.steps) == 8
    assert training.steps[0].kept == "all"
    assert training.steps[-1].kept == "losses"
    whole = trainings("torch").training("micro_batches")
    assert [step.loss for step in training.steps] == [step.loss for step in whole.steps]


@pytest.mark.torch
def test_a_program_that_is_killed_leaves_the_steps_before(trainings: Recorded) -> None:
    steps = trainings("torch").training("killed").steps
    assert [step.number for step in steps] == list(range(1, 10))


@pytest.mark.torch
def test_the_file_of_a_folder_is_written_when_the_program_ends(trainings: Recorded) -> None:
    assert len(trainings("torch").training("run").steps) == 3


@pytest.mark.torch
def test_a_scaler_has_its_scale_and_a_step_that_it_skips(trainings: Recorded) -> None:
    steps = trainings("torch").training("mixed_precision").steps
    skipped = [step for step in steps if step.skipped]
    assert len(skipped) == 1
    number = skipped[0].number
    assert [step.scale for step in steps] == [256.0] * number + [128.0] * (12 - number)
    before, after = steps[number - 2], skipped[0]
    assert after.weights == before.weights
    assert after.state == before.state
    gradients, given = values(steps[0].gradients), values(steps[0].given)
    factors = {name: gradients[name] / given[name] for name in gradients}
    assert steps[0].norm is not None
    for factor in factors.values():
        np.testing.assert_allclose(factor[np.isfinite(factor)], 256 * steps[0].norm, rtol=1e-3)


@pytest.mark.torch
def test_settings_are_those_of_the_update_and_averages_those_after_it(trainings: Recorded) -> None:
    steps = trainings("torch").training("scheduled_and_averaged").steps
    assert [step.groups[0].settings["lr"] for step in steps[:4]] == [0.01, 0.01, 0.005, 0.005]
    assert steps[0].groups[0].settings["betas"] == (0.9, 0.999)
    before, step = steps[1], steps[2]
    averages, weights = values(before.averages), values(step.weights)
    for name, average in values(step.averages).items():
        expected = 0.9 * averages[name] + 0.1 * weights[name]
        np.testing.assert_allclose(average, expected, rtol=1e-5, atol=1e-7)


# JAX alone, and beside the same trainings of PyTorch

SAME = {
    "eager": "adamw",
    "compiled": "adamw",
    "donated": "momentum",
    "clipped": "clipped",
    "two_passes": "two_passes",
}
"""Programs of JAX, and the rules of recorded_beside_jax.py that they train by."""


@pytest.mark.jax
@pytest.mark.torch
@pytest.mark.parametrize("name", SAME)
def test_the_same_training_in_pytorch_differs_in_nothing(
    trainings: Recorded, beside_jax: Path, name: str
) -> None:
    in_torch = read_training(beside_jax / f"{SAME[name]}.training")
    comparison = compared(in_torch, training_of(trainings, "jax", name))
    assert comparison.difference is None
    answers = {answer.question: answer.status for answer in comparison.answers}
    judged: list[Question] = ["data", "start", "trained", "given", "update"]
    judged += ["state"] if SAME[name] in ("adamw", "momentum") else []
    assert {question: answers[question] for question in judged} == dict.fromkeys(judged, "same")


@pytest.mark.jax
def test_what_is_updated_is_no_data_of_the_other_pass(trainings: Recorded) -> None:
    for step in training_of(trainings, "jax", "two_nets").steps:
        assert [[leaf.name for leaf in batch.data] for batch in step.batches] == [["x"], ["x"]]


@pytest.mark.jax
def test_compiled_passes_with_loops_and_branches_are_recorded_as_eager_ones(
    trainings: Recorded,
) -> None:
    eager = training_of(trainings, "jax", "two_passes").steps
    compiled = training_of(trainings, "jax", "compiled_passes").steps
    for one, other in zip(eager, compiled, strict=True):
        losses = [batch.loss for batch in one.batches]
        assert [batch.loss for batch in other.batches] == pytest.approx(losses, rel=1e-5)
        for leaves in ("gradients", "weights"):
            expected, found = values(getattr(one, leaves)), values(getattr(other, leaves))
            assert found.keys() == expected.keys()
            for name, array in expected.items():
                np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-6)


@pytest.mark.jax
def test_recorded_gradients_are_those_that_the_compiled_step_has_computed(
    trainings: Recorded,
) -> None:
    first = training_of(trainings, "jax", "module").steps[0]
    gradients, state = values(first.gradients), values(first.state)
    # That of a bias in front of a norm is nothing but rounding, which each way of computing it has its own.
    for name, gradient in gradients.items():
        np.testing.assert_allclose(state[f"{name}.exp_avg"], 0.1 * gradient, rtol=1e-6)


@pytest.mark.jax
def test_later_steps_of_a_compiled_function_trace_and_compile_nothing(trainings: Recorded) -> None:
    work = trainings("jax").computed["work"]
    assert work["traced"] == 3  # by the program itself, and for each of the two calls in a step
    first, *later = work["compiled"]
    assert first > 0
    assert later[:9] == [0] * 9  # until each operation runs for a trace


@pytest.mark.jax
@pytest.mark.parametrize("name", ["work", "again"])
def test_another_training_of_a_function_has_its_optimizer_and_updates(
    trainings: Recorded, name: str
) -> None:
    training = training_of(trainings, "jax", name)
    assert training.optimizer == "optax.adam"
    answers = {it.question: it.status for it in compared(training, training).answers}
    assert (answers["update"], answers["state"]) == ("same", "same")


@pytest.mark.jax
def test_a_trace_that_begins_within_a_step_has_no_values_of_what_was_computed_before(
    trainings: Recorded,
) -> None:
    trace = trainings("jax").trace("in_training")
    assert trace.missing == ()
    assert trace.graph is not None
    nodes = {node.id: node for node in trace.graph.nodes}
    known = {
        id: node.outputs[0].values is not None
        for id, node in nodes.items()
        if node.op == "dot_general"
    }
    assert set(known.values()) == {True, False}
    # Operations of the two calls are told apart.
    forwards = [(id, forward) for id in known if (forward := nodes[id].forward) is not None]
    assert len(forwards) == 6
    assert all(known[forward] == known[id] for id, forward in forwards)


@pytest.mark.jax
def test_the_chain_of_optax_is_told_with_its_rate(trainings: Recorded) -> None:
    training = training_of(trainings, "jax", "clipped")
    assert training.optimizer == "optax.sgd"
    rates = [step.groups[0].settings["lr"] for step in training.steps]
    assert rates == pytest.approx([0.1, 0.05, 0.025, 0.0125], rel=1e-6)


@pytest.mark.jax
def test_settings_that_are_traced_are_those_of_the_state_or_are_left_out(
    trainings: Recorded,
) -> None:
    injected, given = (training_of(trainings, "jax", name) for name in ("injected", "given_rate"))
    assert {injected.optimizer, given.optimizer} == {"optax.adam"}
    settings = injected.steps[1].groups[0].settings
    assert settings["lr"] == pytest.approx(1e-2)
    assert settings["betas"] == pytest.approx((0.9, 0.999))
    settings = given.steps[1].groups[0].settings
    assert settings["betas"] == (0.9, 0.999)
    assert "lr" not in settings


@pytest.mark.jax
def test_a_loss_that_has_its_data_from_around_it_and_bfloat16_are_recorded_whole(
    trainings: Recorded,
) -> None:
    training = training_of(trainings, "jax", "closed_over")
    step = training.steps[1]
    (batch,) = step.batches
    assert [leaf.name for leaf in batch.data] == ["x", "y"]
    assert {leaf.name: leaf.value.dtype for leaf in step.weights} == dict.fromkeys(
        SHAPES, "bfloat16"
    )
    assert {start.name for start in training.start} == SHAPES.keys()
    # Of what a chain holds nothing for, another rule makes the updates.
    (group,) = step.groups
    assert set(group.names) == {"first.weight", "first.bias"}


@pytest.mark.jax
def test_each_net_has_its_own_optimizer_and_averages_begin_as_the_weights(
    trainings: Recorded,
) -> None:
    training = training_of(trainings, "jax", "two_optimizers")
    first = training.steps[0]
    rates = {group.names[-1]: group.settings["lr"] for group in first.groups}
    assert rates == {"layer.weight": 1e-2, "generator.layer.weight": 1e-3}
    weights, gradients, state, averages = map(
        values, (first.weights, first.gradients, first.state, first.averages)
    )
    starts = values(tuple(Leaf(one.name, one.value) for one in training.start))
    assert weights.keys() == averages.keys() == starts.keys() == gradients.keys()
    for name, share in (("layer.weight", 0.1), ("generator.layer.weight", 0.5)):
        np.testing.assert_allclose(state[f"{name}.exp_avg"], share * gradients[name], rtol=1e-5)
        expected = 0.9 * starts[name] + 0.1 * weights[name]
        np.testing.assert_allclose(averages[name], expected, rtol=1e-6)
    assert [[leaf.name for leaf in batch.data] for batch in first.batches] == [["x"], []]
    answers = {it.question: it.status for it in compared(training, training).answers}
    assert (answers["update"], answers["state"], answers["averages"]) == ("same",) * 3


@pytest.mark.jax
def test_a_module_has_buffers_and_a_state_by_pytorchs_names(trainings: Recorded) -> None:
    training = training_of(trainings, "jax", "module")
    first, second = training.steps[:2]
    assert set(values(first.buffers)) == {"norm.running_mean", "norm.running_var"}
    assert "norm.weight" in values(first.weights)
    assert values(second.state)["last.weight.step"] == 2
    assert values(second.state)["last.weight.exp_avg"].shape == (3, 16)
    moved = values(first.buffers)["norm.running_mean"]
    assert (values(second.buffers)["norm.running_mean"] != moved).any()
    roles = {start.name: start.role for start in training.start}
    assert roles["norm.running_var"] == "buffer"
    assert roles["norm.bias"] == "parameter"


@pytest.mark.jax
def test_the_first_step_has_its_graph_where_it_is_asked_for(trainings: Recorded) -> None:
    first, second = training_of(trainings, "jax", "compiled").steps[:2]
    assert second.graph is None
    assert first.graph is not None
    assert lint(first.graph) == []
    assert {"dot_general", "erfc"} <= {node.op for node in first.graph.nodes}


ONLY_ONE = """
import numpy as np
import optax
import optax.contrib
from explorer.engines.jax.optimizers import clip, clipped, kind, links, only_one

decayed = optax.adamw(1e-3, mask={"weight": True, "bias": False})
print(kind(links(optax.apply_if_finite(decayed, 3))))
del decayed
optimizer = optax.chain(optax.clip(1.0), optax.sgd(0.1))
print(kind(only_one()), clipped({"w": np.array([3, -0.5])}, *clip(only_one()))["w"])
other = optax.adam(1e-3)
print(only_one())
"""


@pytest.mark.jax
def test_one_optimizer_is_found_among_arguments_of_optax_s_own(tmp_path: Path) -> None:
    """Where a program holds two, neither is taken for that of its updates."""
    skip_without("optax")
    home = home_of("jax")
    done = ran(home.python, "-c", ONLY_ONE, env=program_environment(home, tmp_path))
    assert done.stdout.splitlines() == ["optax.adamw", "optax.sgd [ 1.  -0.5]", "[]"]
