"""What claims and surprises advise works: it is done by programs, in both styles of MindSpore."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from explorer.topics import claims
from tests.independent.advice import run
from tests.independent.advice.checks import close, raises
from tests.independent.agreements import AGREEMENTS, FORM, STYLES
from tests.independent.once import found_once
from tests.support.command_line import ROOT

MEASURED = tuple(f"row_{row}" for row in (18, 46, 78, 83, 87, 89, 90))

WITHOUT_PROGRAM = {
    "row_61": "takes two processes: tests/topics/test_data_parallel.py trains by each of the routes",
    "row_77": "needs an Ascend NPU",
    "row_85": "says where to look, and no code",
    "row_49": "is of initial values, which agreements compare with a closed form",
    "row_50": "likewise",
    **dict.fromkeys(MEASURED, "is what is measured; agreements compare it with a closed form"),
}
"""Claims whose advice no program here follows, each with the reason."""

BY_REPRODUCER = {
    "compiled_multilabel",
    "ctc_gradient",
    "custom_saved",
    "decay_by_name",
    "embedding_start",
    "failed_gradient",
    "forward_mode_no_grad",
    "in_place_exp",
    "kept_nets",
    "layer_norm_epsilon",
    "missing_kernels",
    "nested_index",
    "nested_sum",
    "product_second",
    "relu_at_zero",
    "rmsprop_start",
    "rrelu_evaluation",
    "slopes_at_bounds",
    "strided_padding",
    "training_mode",
    "tuple_input",
    "unscale_float16",
    "view_write",
}
"""Surprises whose reproducer follows the advice itself; tests/test_surprises.py checks what it prints."""

SURPRISES = sorted(path.stem for path in (ROOT / "docs" / "surprises").glob("*.py"))


def subjects(party: str) -> set[str]:
    """What the programs of a party are about, read from their text."""
    found = set()
    for module in run.modules(party):
        text = (Path(run.__file__).parent / f"{module}.py").read_text(encoding="utf-8")
        for line in text.splitlines():
            name = line.removeprefix("def ").partition("(")[0].partition(" = ")[0]
            if line.startswith(("def ", "row_", "surprise_")):
                found.add(run.subject_of(name, party))
    return found - {""}


FOLLOWED = sorted((party, subject) for party in run.PARTIES for subject in subjects(party))


def test_every_claim_s_advice_is_followed_or_has_a_reason() -> None:
    followed = {subject for _, subject in FOLLOWED if subject.startswith("row_")}
    rows = {f"row_{row}" for row in claims()}
    assert followed | set(WITHOUT_PROGRAM) == rows
    assert not followed & set(WITHOUT_PROGRAM)


@pytest.mark.parametrize("row", MEASURED)
def test_advice_that_is_measured_agrees_with_a_closed_form_in_both_styles(row: str) -> None:
    by_form = [agreement for agreement in AGREEMENTS if agreement.finder == FORM]
    measured = [each.measurement for each in by_form if f"row_{each.subject}" == row]
    for style in STYLES:
        assert any(measurement.endswith(style) for measurement in measured)


def test_every_surprise_s_advice_is_followed_here_or_by_its_reproducer() -> None:
    followed = {
        subject.removeprefix("surprise_")
        for _, subject in FOLLOWED
        if subject.startswith("surprise_")
    }
    assert followed | BY_REPRODUCER == set(SURPRISES)
    assert not followed & BY_REPRODUCER


def test_advice_on_mindspore_is_followed_in_both_styles_or_in_the_one_it_names() -> None:
    alone = subjects("mindspore-graph") ^ subjects("mindspore-tape")
    # Their advice is to use graph style, or to look at its graphs.
    assert alone == {"row_26", "row_27", "row_28"}


@pytest.mark.parametrize(
    ("function", "party", "subject"),
    [
        ("row_16", "torch", "row_16"),
        ("row_26_in_graph", "mindspore-graph", "row_26"),
        ("row_26_in_graph", "mindspore-tape", ""),
        ("surprise_nested_sum_on_tape", "mindspore-tape", "surprise_nested_sum"),
        ("surprise_nested_sum_on_tape", "mindspore-graph", ""),
        ("close", "torch", ""),
    ],
)
def test_a_program_is_about_what_its_name_says(function: str, party: str, subject: str) -> None:
    assert run.subject_of(function, party) == subject


def test_the_outcome_of_a_program_is_what_it_finds_wrong() -> None:
    def finds_another_number() -> None:
        close([1.0, -2.0], [1.0, 2.0])

    assert "AssertionError" in run.outcome("torch", finds_another_number)
    assert run.outcome("torch", lambda: close([1.0, -2.0], [1.0, -2.0])) == ""


def test_what_raises_nothing_is_noticed() -> None:
    with pytest.raises(AssertionError, match="raises none of"):
        raises((ValueError,), lambda: None)


@pytest.fixture(scope="session")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, str]]:
    """Gives what became of a party's advice; all is followed at once."""

    @cache
    def outcomes(party: str) -> dict[str, str]:
        return found_once(tmp_path_factory, run.__name__, party)

    return outcomes


@pytest.mark.whole  # the programs do not change with the explorer; CI runs them
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize(("party", "subject"), FOLLOWED)
def test_the_advice_works(
    party: str, subject: str, followed: Callable[[str], dict[str, str]]
) -> None:
    assert followed(party)[subject] == ""
