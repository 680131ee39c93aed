"""Nets without starting values of their own start alike in both frameworks."""

from pathlib import Path

import numpy as np
import pytest

from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError
from explorer.model.failures import Failure
from explorer.model.measurement import Ask, Found, Measurement
from explorer.model.requests import Description, NetRequest, ParameterSpec, Role
from explorer.model.results import Outcome, Result
from explorer.topics import scenario_nets
from explorer.topics.in_worker import run
from explorer.topics.scenario_nets import covering_answers, drawn_parameters
from tests.support.scenario_files import MINIMAL, written


def description(*names: str) -> Description:
    """A net with parameters of shape (2, 3); those called "mean" are not trained."""
    specs = []
    for name in names:
        value = pack(np.zeros((2, 3), np.float32))
        role: Role = "frozen" if name.endswith("mean") else "trained"
        specs.append(ParameterSpec(name, f"own.{name}", role, value))
    return Description(parameters=tuple(specs))


def test_what_is_trained_starts_by_its_name_whatever_net_it_is_in() -> None:
    first = drawn_parameters(description("fc.weight", "fc.mean"))
    other = drawn_parameters(description("conv.weight", "fc.weight"))
    assert first.keys() == {"fc.weight"}
    assert first["fc.weight"] == other["fc.weight"] != other["conv.weight"]


def test_values_are_drawn_within_one_over_the_root_of_a_rows_length() -> None:
    weight = unpack(drawn_parameters(description("fc.weight"))["fc.weight"])
    assert weight.shape == (2, 3)
    assert 0 < np.abs(weight).max() <= 1 / np.sqrt(3)


@pytest.mark.parametrize(
    ("outcome", "kind"), [("raised", "ScenarioError"), ("unsupported", "ExplorerError")]
)
def test_where_no_case_is_answered_the_reason_is_raised(
    outcome: Outcome, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: dict[str, set[str]] = {}  # by device, the cases that are not answered

    def answer(net: NetRequest, case: GradCase) -> Result:
        if case.must_fail or case.label in refused[net.device]:
            return Result(outcome=outcome, error=Failure("ValueError", f"not on {net.device}"))
        return Result(outcome="ok")

    monkeypatch.setattr(scenario_nets, "describe", lambda net: Description())
    monkeypatch.setattr(scenario_nets, "answer", answer)
    ask = Ask(str(written(tmp_path, MINIMAL)))
    refused.update(cpu=set(), cuda=set())
    answers = covering_answers(ask, "torch-tape", ("cpu", "cuda"))
    # That a case which must fail does so is no reason.
    assert {case["outcome"] for case in answers["cpu"].values()} == {"ok", outcome}
    labels = set(answers["cpu"])
    refused.update(cpu=labels)
    assert covering_answers(ask, "torch-tape", ("cpu", "cuda")).keys() == {"cpu", "cuda"}
    refused.update(cuda=labels)
    with pytest.raises(ExplorerError, match="no case is answered: ValueError: not on cpu") as error:
        covering_answers(ask, "torch-tape", ("cpu", "cuda"))
    assert type(error.value).__name__ == kind


def asks_for_mindspore_s_net(ask: Ask) -> Found:
    """A program that needs the scenario's net for MindSpore."""
    scenario_nets.net_request(ask, "mindspore-tape")
    return Found({})


def test_a_net_that_the_scenario_does_not_define_is_no_net_that_raises(tmp_path: Path) -> None:
    target = f"{__name__}:{asks_for_mindspore_s_net.__name__}"
    file = str(written(tmp_path, MINIMAL))
    measured = run(Measurement(name="x", kind="mindspore", target=target, scenario=file))
    assert measured.outcome == "not_defined"
    assert measured.error
    assert measured.error.message == "scenario given defines no mindspore_net()"
