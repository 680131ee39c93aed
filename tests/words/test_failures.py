"""Failures as text, in either language: what the explorer knows of them, or a framework's own words."""

import string
from typing import get_args

import pytest

from explorer.model.failures import Complaint, Failure, Refusal
from explorer.model.results import Result
from explorer.text.failures import KINDS, message, typed
from explorer.text.language import _, said_in
from explorer.words import answers

DETAILS = ("Roll", "CPU", "Int32", "Float32", "Bool Float16")


def test_every_kind_has_its_words_and_no_two_have_the_same() -> None:
    assert set(KINDS) == {*get_args(Refusal), *get_args(Complaint)}
    assert len(set(KINDS.values())) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_said_with_its_details_in_either_language(kind: Refusal | Complaint) -> None:
    error = Failure("RuntimeError", "a screenful", kind=kind, details=DETAILS)
    english = message(error)
    with said_in("zh"):
        chinese = message(error)
        assert _(KINDS[kind]) != KINDS[kind]
    assert chinese != english
    places = [name for _text, name, _spec, _how in string.Formatter().parse(KINDS[kind]) if name]
    for place in places:
        expected = "Float32" if place == "taken" else DETAILS[int(place)]
        assert expected in english
        assert expected in chinese
    assert "a screenful" not in english


@pytest.mark.parametrize(
    ("taken", "listed"),
    [
        (("Float32",), "Float32"),
        (("A", "B", "C", "D"), "A or B or C or D"),
        (("A", "B", "C", "D", "E", "F"), "A or B or C or D or one of 2 more"),
    ],
)
def test_the_first_dtypes_are_listed(taken: tuple[str, ...], listed: str) -> None:
    error = Failure("TypeError", kind="no_dtype", details=("CPU", "Roll", "Int32", *taken))
    assert message(error) == (
        "MindSpore's CPU kernel of the operator Roll does not support Int32; cast to a supported"
        f" dtype: {listed}"
    )


def test_of_a_long_list_the_rest_is_counted() -> None:
    error = Failure("TypeError", 'calls:\n"sum(1)"', left_out=3)
    assert message(error) == 'calls:\n"sum(1)"\nand 3 more'
    with said_in("zh"):
        assert message(error) == 'calls:\n"sum(1)"\n以及另外 3 种'


def test_any_other_error_is_in_the_framework_s_own_words() -> None:
    error = Failure("ValueError", "no gradient of {x}")
    for code in ("en", "zh"):
        with said_in(code):
            assert message(error) == "no gradient of {x}"
            assert typed(error) == "ValueError: no gradient of {x}"


def test_a_lost_worker_is_named_once_and_mindspore_s_own_sources_are_left_out() -> None:
    died = Failure("crashed", "the worker process died (signal 11)")
    lost = Result(outcome="crashed", error=died)
    assert answers.answer(lost) == "crashed: the worker process died (signal 11)"
    refused = Result(outcome="unsupported", error=Failure("Unsupported", "a branch"))
    assert answers.answer(refused).endswith("Unsupported: a branch")
    sources = f"\n\n{'-' * 52}\n- C++ Call Stack: (For framework developers)\nx.cc:1"
    message = f"For 'grad', it can not be None (value_ptr: 0x557529f56740).{sources}"
    shown = answers.failure(Failure("ValueError", message))
    assert shown == "ValueError: For 'grad', it can not be None (value_ptr: 0x…)."
