"""The comparison of trainings as a reader sees it: in the shell, in lines, on a page and in pictures."""

import json
import re
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest

import explorer
from explorer.api.results import RecordedTraining
from explorer.cli.entry import run
from explorer.compare.graphs.sameness import CLEAR
from explorer.drawing import chart
from explorer.drawing.training import MOST_ROWS, distance_svg, losses_svg, weights_svg
from explorer.exploration.recordings import compared
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
    with said_in("zh"):
        assert re.search("[一-鿿]{4}", headline(comparison(found)))


def test_without_noise_it_is_said_that_not_all_is_judged() -> None:
    answers = tuple(Answer(it, "no_noise") for it in ("gradients", "weights"))
    found = msgspec.structs.replace(comparison(band=False), answers=answers)
    lines = list(comparison_lines(found))
    assert lines[0] == (
        "no difference in 5 steps as far as judged; not judged without jittered runs: gradients and weights"
    )
    assert lines[-1].startswith("  no run with a jittered start is recorded")


def momentum(other: float) -> TrainingDifference:
    rules = Rule("momentum", {"momentum": 0.1}), Rule("momentum", {"momentum": other})
    return difference(
        question="buffers", reason="momentum", left=rules[0], right=rules[1], unlike=()
    )


@pytest.mark.parametrize(
    ("found", "line", "is_said"),
    [
        (
            difference(unlike=(Unlike("lr", 0.1, 0.2, 1),)),
            "the rate of mindspore comes 1 step late",
            True,
        ),
        (
            difference(unlike=(Unlike("lr", 0.1, 0.2, -2),)),
            "the rate of mindspore comes 2 steps early",
            True,
        ),
        (momentum(0.9), "the momentum is read the other way round", True),
        (momentum(0.5), "the momentum is read the other way round", False),
    ],
)
def test_what_two_settings_are_of_each_other_is_said(
    found: TrainingDifference, line: str, is_said: bool
) -> None:
    assert (f"  {line}" in list(comparison_lines(comparison(found)))) is is_said


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


@pytest.mark.slow
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


def test_a_page_without_what_draws_charts_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    chart._converter.cache_clear()
    page = comparison_page(comparison(difference())).decode()
    assert page.count("a chart as a file needs vl_convert, which is not installed; run ") == 1
    assert "<svg " not in page
    assert "All answers" in page


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
    records = trainings({"one": Plan(), "slower": Plan(rates=(0.05, 0.05, 0.01))})
    one = records["one"]
    records["other"] = msgspec.structs.replace(one, name="other")
    step = msgspec.structs.replace(one.steps[0], number=90)
    records["later"] = msgspec.structs.replace(one, name="later", steps=(step,), jittered=())
    paths = {name: folder / f"{name}.training" for name in records}
    for name, record in records.items():
        write_training(paths[name], record)
    return paths


@pytest.mark.torch
def test_two_files_exit_with_0_where_they_are_the_same_and_with_1_where_they_differ(
    files: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    one, other, slower = (str(files[name]) for name in ("one", "other", "slower"))
    page = tmp_path / "page.html"
    assert run(["diff", one, other, "--html", str(page)]) == 0
    assert "no difference in 6 steps beyond rounding" in capfd.readouterr().out
    assert "<svg" in page.read_text(encoding="utf-8")
    assert run(["diff", one, slower]) == 1
    assert capfd.readouterr().out.startswith(
        "first difference in step 3, update from the same gradient: one: SGD with lr=0.05; slower: SGD with"
        " lr=0.01"
    )
    assert run(["diff", one, slower, "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["difference"]["step"] == 3


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
    more: tuple[str, ...], message: str, files: dict[str, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    names = [part.format(**files) for part in more]
    assert run(["diff", str(files["one"]), *names]) == 2
    assert message in capfd.readouterr().err


def test_trainings_without_a_step_in_common_are_refused() -> None:
    empty = Training(name="one", framework="torch", engine="torch-tape")
    with pytest.raises(UsageError, match=r"'torch-tape 1' has the steps none"):
        compared(empty, empty)
