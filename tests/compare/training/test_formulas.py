"""The formulas beside the optimizers of both frameworks, each run for some steps."""

from typing import Any

import pytest

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training import formulas
from explorer.compare.training.formulas import fit, rule_of_class
from explorer.compare.training.moments import Moment, moments
from explorer.compare.training.rules import documented, variations
from explorer.model.training import Training
from explorer.model.training_comparison import Rule
from tests.compare.training.conftest import OPTIMIZERS, sampled
from tests.support.narrowing import present
from tests.support.samples import some_rows

pytestmark = [pytest.mark.torch, pytest.mark.mindspore]

MAY_DIFFER_IN = {
    ("SGD", "first_buffer"): "without dampening both are the gradient",
    ("SGD", "lr_in_buffer"): "at a constant rate both give the same weights",
    ("RMSprop", "lr_in_buffer"): "at a constant rate both give the same weights",
}
"""Conventions that do not show in the weights."""


def known(moment: Moment, name: str) -> Rule:
    return present(documented(moment, name))


UNLIKE_THEIR_PAGES = [
    ("nn.RMSProp", "eps_place", "mixed"),
    ("nn.Momentum, Nesterov", "nesterov", False),
]
"""Optimizers of MindSpore that do something else on a CPU (2.10.0): the setting that does it."""

AS_DOCUMENTED = [
    name for name in OPTIMIZERS if name not in {unlike for unlike, *_ in UNLIKE_THEIR_PAGES}
]


@pytest.mark.parametrize("name", sampled(AS_DOCUMENTED))
def test_the_documented_formula_gives_every_step(name: str, recorded: dict[str, Training]) -> None:
    training = recorded[name]
    for moment in moments(training).values():
        for weight in moment.weights:
            found = fit(known(moment, weight), moment, weight)
            assert found.holds, (moment.step.number, weight, found)
            assert found.times < CLEAR / 2  # and not by a hair


@pytest.mark.parametrize("name", sampled(AS_DOCUMENTED))
def test_another_rate_or_convention_does_not(name: str, recorded: dict[str, Training]) -> None:
    training = recorded[name]
    last = [*moments(training).values()][-1]
    plain = known(last, "fc1.weight")
    rate = Rule(plain.kind, {"lr": plain.settings["lr"] * 1.05})
    others = [rate]
    for convention, choices in formulas.OPTIMIZERS[plain.kind].conventions.items():
        for choice in choices:
            is_shown = (plain.kind, convention) not in MAY_DIFFER_IN and convention != "decay"
            is_tiny = convention == "eps_place" and plain.settings["eps"] < 1e-4
            is_kept = convention == "first_square"  # what was kept before the last step is recorded
            is_same = choice == "mixed" or not plain.settings.get("bias_correction", True)
            if choice == plain.settings[convention] or is_tiny or is_kept or is_same:
                continue
            if is_shown:
                others.append(Rule(plain.kind, {convention: choice}))
    for other in others:
        (changed,) = variations(plain, [other])
        assert not fit(changed, last, "fc1.weight").holds, other


@pytest.mark.parametrize(
    ("name", "setting", "value"), some_rows(UNLIKE_THEIR_PAGES, UNLIKE_THEIR_PAGES[0])
)
def test_what_mindspore_computes_unlike_its_page(
    name: str, setting: str, value: Any, recorded: dict[str, Training]
) -> None:
    training = recorded[name]
    for moment in moments(training).values():
        for weight in moment.weights:
            plain = known(moment, weight)
            (changed,) = variations(plain, [Rule(plain.kind, {setting: value})])
            assert fit(changed, moment, weight).holds
    assert not fit(known(moment, "fc1.weight"), moment, "fc1.weight").holds


def test_every_class_has_a_formula() -> None:
    for family in formulas.OPTIMIZERS.values():
        for unlike in family.classes.values():
            assert unlike.keys() <= family.settings.keys() | family.conventions.keys()
            for name, choices in family.conventions.items():
                assert unlike.get(name, choices[0]) in choices


@pytest.mark.parametrize(
    ("optimizer", "place"),
    [
        ("torch.optim.adam.Adam", "outside"),
        ("mindspore.nn.optim.adam.Adam", "uncorrected"),
        ("mindspore.experimental.optim.adam.Adam", "uncorrected"),
        ("program.Adam", "outside"),
    ],
)
def test_a_class_is_known_by_its_module(optimizer: str, place: str) -> None:
    assert present(rule_of_class(optimizer)).settings["eps_place"] == place


def test_a_class_of_the_programs_own_has_no_documented_rule() -> None:
    assert rule_of_class("program.Descent") is None
    assert rule_of_class("torch.optim.adam.Adam, torch.optim.sgd.SGD") is None
