"""Trainings of two nets with an optimizer each, recorded in both frameworks, whose passes are not alike."""

import msgspec
import pytest

from explorer.compare.training.comparison import compare
from explorer.model.engines import Framework
from explorer.model.training import Training
from explorer.model.training_comparison import Status
from explorer.recording.files import read_training
from explorer.words.training import details, headline
from tests.recording.conftest import NETS, printed_by
from tests.support.kept import kept_run, key_of_run, texts
from tests.support.narrowing import present

pytestmark = [pytest.mark.torch]

BESIDE_MINDSPORE = pytest.mark.mindspore


def recorded(framework: Framework, mistake: str = "") -> Training:
    """The training of a program, of which nothing is missing."""
    program = NETS / f"two_nets_in_{framework}.py"
    key = key_of_run(framework, program.stem, (mistake,), texts([program]))
    folder, steps = kept_run(key, lambda out: printed_by(program, out, mistake))
    training = read_training(folder / "run.training")
    assert training.missing == ()
    assert len(training.steps) == steps == 5
    return training


@BESIDE_MINDSPORE
def test_a_right_port_differs_in_nothing_whatever_its_passes_and_where_rates_are_a_list() -> None:
    comparison = compare(recorded("torch"), recorded("mindspore"))
    assert comparison.difference is None, comparison.difference
    assert comparison.names == {}
    answers: dict[str, Status] = {it.question: it.status for it in comparison.answers}
    judged = ("data", "start", "trained", "loss", "update", "given")
    assert {answers[name] for name in judged} == {"same"}
    assert present(comparison.rule).settings["lr"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("framework", "mistake", "step", "question", "reason", "names"),
    [
        ("torch", "not zeroed", 2, "gradients", "kept", "main.0.weight"),
        pytest.param("mindspore", "slope", 1, "loss", "values", "", marks=BESIDE_MINDSPORE),
    ],
)
def test_a_mistake_is_named_in_the_part_of_its_optimizer(
    framework: Framework, mistake: str, step: int, question: str, reason: str, names: str
) -> None:
    difference = present(compare(recorded("torch"), recorded(framework, mistake)).difference)
    assert (difference.step, difference.question, difference.reason) == (step, question, reason)
    assert difference.names[:1] == ((names,) if names else ())
    assert not any(name.startswith("Discriminator.") for name in difference.names)


def test_a_loss_that_is_not_reduced_is_recorded_as_the_sum_that_is_differentiated() -> None:
    summed, whole = recorded("torch", "summed"), recorded("torch", "not reduced")
    assert compare(summed, whole).difference is None
    assert whole.steps[0].loss == pytest.approx(summed.steps[0].loss, rel=1e-6)


@pytest.mark.parametrize("framework", ["torch", pytest.param("mindspore", marks=BESIDE_MINDSPORE)])
def test_of_two_updates_in_a_step_the_gradients_are_those_of_the_last(framework: Framework) -> None:
    step = recorded(framework, "twice").steps[0]
    gradients, given = (
        {leaf.name: leaf.value for leaf in some} for some in (step.gradients, step.given)
    )
    names = [name for name in gradients if name.startswith("Discriminator.")]
    assert len(names) == 4
    assert all(gradients[name] == given[name] for name in names)


def test_an_optimizer_that_calls_a_closure_is_compared() -> None:
    training = recorded("torch", "closure")
    assert {name.partition(".")[0] for name in training.steps[0].groups[0].names} == {
        "Discriminator"
    }
    assert compare(training, training).difference is None
    assert compare(recorded("torch"), training).difference is not None


# Names


@pytest.mark.parametrize(
    "names",
    [
        {"main": "generator.net", "Discriminator.main": "critic.net"},
        {"main": "Discriminator.main", "Discriminator.main": "main"},  # each by the other's name
    ],
)
def test_nets_of_other_names_are_paired_by_what_they_begin_with(names: dict[str, str]) -> None:
    training, wrong = recorded("torch"), recorded("torch", "not zeroed")
    text = msgspec.json.encode(wrong).decode()
    for number, name in enumerate(names):
        text = text.replace(f'"{name}.', f'"<{number}>.')
    for number, name in enumerate(names.values()):
        text = text.replace(f'"<{number}>.', f'"{name}.')
    comparison = compare(training, msgspec.json.decode(text, type=Training))
    plain = compare(training, wrong)
    assert comparison.difference == plain.difference
    assert len(comparison.names) == 8
    assert comparison.names[f"{names['main']}.0.weight"] == "main.0.weight"
    assert "8 tensors have other names in run" in " ".join(details(comparison))


def test_a_parameter_that_one_side_lacks_is_named_and_all_else_is_compared() -> None:
    training = recorded("torch")
    wrong = recorded("torch", "not zeroed")
    lone = "Discriminator.main.2.bias"
    start = tuple(one for one in wrong.start if one.name != lone)
    comparison = compare(training, msgspec.structs.replace(wrong, start=start))
    assert present(comparison.difference).names == (lone,)
    assert "first difference in step 1, start: run does not have them" in headline(comparison)
    assert comparison.beside is not None
    assert (comparison.beside.step, comparison.beside.reason) == (2, "kept")
    assert "without them: first difference in step 2, gradients" in " ".join(details(comparison))


def test_values_that_are_exchanged_under_the_same_names_are_a_difference() -> None:
    training = recorded("torch")
    first, second = "main.0.bias", "Discriminator.main.0.bias"
    values = {one.name: one.value for one in training.start}
    start = tuple(
        msgspec.structs.replace(one, value=values[{first: second, second: first}[one.name]])
        if one.name in (first, second)
        else one
        for one in training.start
    )
    comparison = compare(training, msgspec.structs.replace(training, start=start))
    assert comparison.names == {}
    assert comparison.difference is not None
    assert (comparison.difference.question, comparison.difference.reason) == ("start", "values")
    assert set(comparison.difference.names) == {first, second}
