"""The comparison of trainings as a reader sees it: in the shell, in lines, on a page and in pictures."""

import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest

import explorer
from explorer.api.results import RecordedTraining
from explorer.compare.noise import CLEAR
from explorer.drawing.training import MOST_ROWS, distance_svg, losses_svg, weights_svg
from explorer.exploration.trainings import compared
from explorer.model.errors import UsageError
from explorer.model.training import Training
from explorer.model.training_comparison import (
    Answer,
    Losses,
    Rule,
    TrainingComparison,
    TrainingDifference,
    Unlike,
    WeightMap,
)
from explorer.recording.files import write_training
from explorer.report.schemas import schema, trainings_document
from explorer.report.training import comparison_blocks, comparison_lines, comparison_page
from explorer.text.language import said_in
from explorer.words.training import headline
from tests.planted.trainings.plan import Plan
from tests.planted.trainings.run import trainings
from tests.support.command_line import explorer as run

STEPS = tuple(range(1, 6))


def comparison(
    difference: TrainingDifference | None = None, *, band: bool = True, names: int = 2
) -> TrainingComparison:
    rows = tuple(f"layer{number}.weight" for number in range(names))
    times = tuple((0.5, 2.0, CLEAR, CLEAR * (2 + number), 1e6) for number in range(names))
    return TrainingComparison(
        left="torch",
        right="mindspore",
        frameworks=("torch", "mindspore"),
        versions=({"torch": "2.13.0"}, {"mindspore": "2.10.0"}),
        optimizers=("torch.optim.adam.Adam", "mindspore.nn.optim.adam.Adam"),
        steps=5,
        answers=(Answer("data", "same"), Answer("update", "different" if difference else "same")),
        difference=difference,
        has_noise=band,
        losses=Losses(
            STEPS, (3.0, 2.0, 1.5, 1.2, 1.1), (3.0, 2.0, 1.5, 1.3, 1.4), (1e-5,) * 5 if band else ()
        ),
        weights=WeightMap(STEPS, rows, times, CLEAR) if band else WeightMap(),
    )


def difference(**changes: object) -> TrainingDifference:
    plain = TrainingDifference(
        question="update",
        reason="rule",
        step=2,
        names=("fc.weight",),
        of=2,
        apart=0.0123,
        left=Rule("Adam", {"lr": 0.1}),
        right=Rule("Adam", {"lr": 0.1}),
        unlike=(Unlike("bias_correction", True, False),),
    )
    return msgspec.structs.replace(plain, **changes)


# Sentences


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            difference(),
            "first difference in step 2, update from the same gradient: torch: Adam with bias correction;"
            " mindspore: Adam without bias correction",
        ),
        (
            difference(unlike=(Unlike("weight_decay", 0.0, 0.1),)),
            "first difference in step 2, update from the same gradient: torch: Adam with weight_decay=0;"
            " mindspore: Adam with weight_decay=0.1",
        ),
        (
            difference(question="gradients", reason="factor", numbers=(0.25,)),
            "first difference in step 2, gradients: those of mindspore are 4 times those of torch",
        ),
        (
            difference(question="gradients", reason="kept", side="right"),
            "first difference in step 2, gradients: those of mindspore are those of its last step plus those"
            " of this one: zero_grad() is missing",
        ),
        (
            difference(
                question="given",
                reason="clipping",
                left=Rule("norm", {"limit": 0.5}),
                right=Rule("value", {"limit": 0.5}),
            ),
            "first difference in step 2, unscaling and clipping: torch: clipped to a total norm of 0.5;"
            " mindspore: each element clipped to 0.5",
        ),
        (
            difference(reason="unknown_rule", side="right", right=None, unlike=()),
            "first difference in step 2, update from the same gradient: no known rule gives the update of"
            " mindspore; that of torch is Adam(lr=0.1)",
        ),
        (None, "no difference in 5 steps beyond rounding"),
    ],
)
def test_the_first_difference_is_one_sentence(
    found: TrainingDifference | None, sentence: str
) -> None:
    assert headline(comparison(found)) == sentence


def test_without_noise_it_is_said_that_not_all_is_judged() -> None:
    lines = list(comparison_lines(comparison(band=False)))
    assert lines[0] == "no difference in 5 steps in what can be judged without jittered runs"
    assert lines[-1].startswith("  no run with a jittered start is recorded")


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        (1, "the rate of mindspore comes 1 step late"),
        (-2, "the rate of mindspore comes 2 steps early"),
    ],
)
def test_a_rate_of_another_step_is_said_to_be_late_or_early(steps: int, line: str) -> None:
    found = difference(unlike=(Unlike("lr", 0.1, 0.2, steps),))
    assert f"  {line}" in list(comparison_lines(comparison(found)))


@pytest.mark.parametrize(("momentum", "is_said"), [(0.9, True), (0.5, False)])
def test_momentum_read_the_other_way_round_is_said_to_be_so(momentum: float, is_said: bool) -> None:
    rules = Rule("momentum", {"momentum": 0.1}), Rule("momentum", {"momentum": momentum})
    found = difference(
        question="buffers", reason="momentum", left=rules[0], right=rules[1], unlike=()
    )
    lines = list(comparison_lines(comparison(found)))
    assert ("  the momentum is read the other way round" in lines) == is_said


def test_it_is_said_in_chinese() -> None:
    chinese = said_in("zh")(headline)(comparison(difference()))
    assert chinese == (
        "最先的差异在第 2 步，由同一梯度得到的更新："
        "torch：Adam（带偏差修正）；mindspore：Adam（不带偏差修正）"
    )


# Pictures and page


def words_of(svg: bytes) -> list[str]:
    return re.findall(r">([^<>]+)</text>", svg.decode())


@pytest.mark.slow
def test_losses_are_drawn_with_their_band() -> None:
    found = comparison(difference())
    words = words_of(losses_svg(found))
    assert {"torch", "mindspore", "loss", "step"} <= set(words)
    assert "The band is as wide as rounding may move the losses apart." in words
    assert losses_svg(found) == losses_svg(found)
    assert b"says how far rounding moves" in losses_svg(comparison(band=False))
    assert distance_svg(comparison(band=False)) == b""


def test_the_first_red_cell_is_marked() -> None:
    svg = weights_svg(comparison()).decode()
    assert "The first red cell is marked: layer0.weight in step 4." in svg
    assert weights_svg(comparison(band=False)) == b""


@pytest.mark.slow
def test_of_many_parameters_those_furthest_apart_are_drawn() -> None:
    words = words_of(weights_svg(comparison(names=MOST_ROWS + 5)))
    drawn = [word for word in words if word.startswith("layer")]
    assert len(drawn) == MOST_ROWS


@pytest.mark.slow
def test_the_page_has_the_sentence_the_pictures_and_all_answers() -> None:
    page = comparison_page(comparison(difference())).decode()
    assert page.count("<svg ") == 3
    assert "Adam without bias correction" in page
    assert "All answers" in page
    assert len(list(comparison_blocks(comparison(band=False)))) < len(
        list(comparison_blocks(comparison()))
    )


# JSON


@pytest.mark.parametrize("found", [None, difference()])
def test_the_document_fits_its_schema(found: TrainingDifference | None) -> None:
    document = trainings_document(comparison(found))
    jsonschema.Draft202012Validator(schema("trainings")).validate(document)
    assert document["sentence"] == headline(comparison(found))


# Files in the shell


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two trainings of PyTorch that are the same, and one with another rate."""
    folder = tmp_path_factory.mktemp("trainings")
    records = trainings(
        {"one": Plan(), "other": Plan(), "slower": Plan(rates=(0.05, 0.05, 0.01)), "later": Plan()}
    )
    step = msgspec.structs.replace(records["later"].steps[0], number=90)
    records["later"] = msgspec.structs.replace(records["later"], steps=(step,), jittered=())
    paths = {name: folder / f"{name}.training" for name in records}
    for name, record in records.items():
        write_training(paths[name], record)
    return paths


@pytest.mark.torch
def test_two_files_that_are_the_same_exit_with_0(files: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run("diff", str(files["one"]), str(files["other"]), "--html", str(page), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no difference in 6 steps beyond rounding" in done.stdout
    assert "<svg" in page.read_text(encoding="utf-8")


@pytest.mark.torch
def test_two_files_that_differ_exit_with_1(files: dict[str, Path], tmp_path: Path) -> None:
    done = run("diff", str(files["one"]), str(files["slower"]), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "first difference in step 3, update from the same gradient: one: SGD with lr=0.05; slower: SGD with"
        " lr=0.01"
    )
    document = run("diff", str(files["one"]), str(files["slower"]), "--json", cwd=tmp_path)
    assert document.returncode == 1
    assert json.loads(document.stdout)["difference"]["step"] == 3


@pytest.mark.torch
def test_files_are_compared_in_python(files: dict[str, Path], tmp_path: Path) -> None:
    one, slower = explorer.load(files["one"]), explorer.load(files["slower"])
    assert isinstance(one, RecordedTraining)
    assert isinstance(slower, RecordedTraining)
    answer = one.diff(slower)
    assert not answer.is_same
    assert repr(answer) == f"<TrainingsDifference: {answer.explain()}>"
    assert str(answer).startswith("first difference in step 3")
    assert answer._repr_mimebundle_()["text/html"].count("<svg") == 0  # a picture is its own file
    assert answer.save(tmp_path / "a.html").read_text(encoding="utf-8") == answer.html()
    assert one.diff(one).is_same


@pytest.mark.torch
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("torch-tape",), "cannot be read"),
        (("{one}", "--prove"), "--prove"),
        (("{later}",), "'one' has the steps 1–6 and 'later' the steps 90"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_line(
    more: tuple[str, ...], message: str, files: dict[str, Path], tmp_path: Path
) -> None:
    names = [part.format(**files) for part in more]
    done = run("diff", str(files["one"]), *names, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_page_is_for_trainings_alone(tmp_path: Path) -> None:
    done = run("diff", "polynomial", "torch-tape", "torch-graph", "--html", "a.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "--html is for two trainings" in done.stderr


def test_trainings_without_a_step_in_common_are_refused() -> None:
    empty = Training(name="one", framework="torch", engine="torch-tape")
    with pytest.raises(UsageError, match=r"'torch-tape 1' has the steps none"):
        compared(empty, empty)
