"""The study of conventions: who chooses alike, with the frameworks that are here and with JAX."""

import pytest

from explorer.environments.known import in_use
from explorer.model.engines import NEEDED
from explorer.topics.conventions.findings import choices, company, key, wholly_alike
from explorer.topics.conventions.names import NAMES
from explorer.topics.conventions.questions import ASKED, KINKS, TOPIC
from explorer.topics.evidence import Evidence
from explorer.topics.question import Target
from explorer.topics.studies import asked
from explorer.words.messages import text
from explorer.words.topics import texts
from explorer.workers.workers import Workers
from tests.support.tellings import telling_text
from tests.support.topics import measured_once, recorded_study, written


def evidence_of(**answers: object) -> Evidence:
    """Evidence in which parties give one figure for the gradient of a vector, as torch_tape=..."""
    figures = {name.replace("_", "-"): {"vector_output": each} for name, each in answers.items()}
    return Evidence(written({(ASKED["calls"], name): figures[name] for name in figures}))


REFUSED = {"raised": "TypeError", "message": "no"}
REFUSED_TOO = {"raised": "ValueError", "message": "never"}


def test_every_convention_has_a_name_for_readers() -> None:
    for group, names in NAMES.items():
        for name in names:
            assert f"conventions.{group}.{name}" in texts()


def test_refusals_are_alike_whatever_their_words_and_numbers_in_four_digits() -> None:
    assert key(REFUSED) == key(REFUSED_TOO)
    assert key([0.841344]) == key([0.841346])
    assert key([0.8413]) != key([0.8412])
    assert key(True) != key(1.0)
    assert key({"value": [0.0], "gradient": [[1.0]]}) != key({"value": [1.0], "gradient": [[1.0]]})


@pytest.mark.parametrize(
    ("answers", "goes_with", "whole"),
    [
        ({"mindspore_tape": 1, "torch_tape": 2, "jax_tape": 2}, "PyTorch", ("torch",)),
        ({"mindspore_tape": 1, "torch_tape": 2, "jax_tape": 1}, "MindSpore", ("mindspore",)),
        ({"mindspore_tape": 1, "torch_tape": 2, "jax_tape": 3}, "nobody", ()),
        ({"mindspore_tape": 1, "torch_tape": 1, "jax_tape": 1}, "everybody", NEEDED),
        (
            {"mindspore_tape": 1, "torch_tape": REFUSED, "jax_tape": REFUSED_TOO},
            "PyTorch",
            ("torch",),
        ),
        ({"torch_tape": 1, "torch_func": 2, "jax_tape": 2}, "torch.func", ()),
        ({"torch_tape": 1, "jax_tape": 1, "jax_graph": 2}, "differs by style", ()),
    ],
)
def test_a_framework_goes_with_those_that_give_the_same(
    answers: dict[str, object], goes_with: str, whole: tuple[str, ...]
) -> None:
    (choice,) = choices(evidence_of(**answers))
    assert text(company(choice, "jax")) == goes_with
    assert wholly_alike(choice, "jax") == whole


def test_where_two_frameworks_were_asked_the_third_is_said_not_to_have_been() -> None:
    two = telling_text(TOPIC, evidence_of(mindspore_tape=1, torch_tape=2))
    assert [column for column in two.tables[0].columns if "JAX" in column] == []
    assert "JAX was not asked: it joins where it is installed" in " ".join(two.findings)
    three = telling_text(TOPIC, evidence_of(mindspore_tape=1, torch_tape=2, jax_tape=2))
    assert [*three.tables[0].columns][-2:] == ["all agree", "JAX goes with"]
    assert "There JAX goes with PyTorch in 1" in " ".join(three.findings)
    assert "not asked" not in " ".join(three.findings)


def test_a_framework_that_is_not_used_is_not_asked() -> None:
    wanted = {each.kind for each in asked(TOPIC, Target(), NEEDED)}
    assert wanted == {"mindspore", "torch"}
    assert "jax" in {each.kind for each in asked(TOPIC, Target(), (*NEEDED, "jax"))}


@pytest.mark.slow
def test_without_a_third_framework_every_question_is_answered_by_two() -> None:
    two = Evidence(recorded_study("conventions"))
    told = telling_text(TOPIC, two)
    assert len(told.tables) == len(NAMES) + 1
    for question in (*ASKED.values(), *KINKS.values()):
        assert len(two[question]) >= 2


@pytest.fixture(scope="module")
def measured(workers: Workers) -> Evidence:
    return Evidence(measured_once(workers, asked(TOPIC, Target(), in_use())))


@pytest.mark.jax
@pytest.mark.mindspore
@pytest.mark.torch
def test_where_the_two_differ_at_kinks_jax_goes_with_each_at_some(measured: Evidence) -> None:
    at_kinks = {
        text(choice.what): choice for choice in choices(measured) if choice.group == "kinks"
    }
    goes = {what: text(company(choice, "jax")) for what, choice in at_kinks.items()}
    assert goes["relu at 0"] == "everybody"
    assert goes["relu6 at 0 and 6"] == "PyTorch"
    assert goes["norm of the zero vector"] == "MindSpore"
    assert goes["abs at 0"] == "nobody"  # its slope is 1 there (0.6.2)
    assert goes["if x.sum() > 0: log(x), else zeros, at 0"] == "differs by style"


@pytest.mark.jax
def test_jax_s_own_choices(workers: Workers) -> None:
    jax = [each for each in asked(TOPIC, Target(), ("jax",)) if each.name.startswith("conventions")]
    found = measured_once(workers, jax)
    calls = found["conventions.calls.jax-tape"].figures
    assert calls["vector_output"]["raised"] == "TypeError"
    assert calls["aliased_input"] == [1.0, 2.0]  # one tensor as both: two variables
    assert calls["complex_input"] == [2.0, -4.0]  # the conjugate of PyTorch's
    assert calls["has_aux"] == "(x, x)"
    values = found["conventions.values.jax"].figures
    assert values["median_of_four"] == 2.5
    assert values["index_out_of_bounds"] == [4.0]
    assert found["conventions.functional.jax"].figures["compiled_state"]["raised"]
    for library in ("layers", "optimizers"):
        outcome = found[f"conventions.{library}.jax"]
        is_missing = outcome.error is not None and outcome.error.kind == "no_package"
        assert is_missing or outcome.figures
