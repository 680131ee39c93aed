"""Gradients that are nan, infinite or random: what is said of them, and that the rest is compared."""

from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.report import CaseReport
from explorer.scenario.load import load
from explorer.words.cases import oracle
from explorer.words.divergences import first_divergence
from explorer.workers.workers import Workers
from tests.support.nets import net_file
from tests.support.samples import some
from tests.support.scenario_files import Side, scenario_text, written
from tests.support.standard_engines import ENGINES
from tests.support.twin_nets import TWINS

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

MINDSPORE = {"mindspore-graph", "mindspore-tape"}
TORCH = {"torch-tape", "torch-graph"}

PARTED = {
    # Triangular: every product but the whole one has a zero, and some are infinite on the way.
    "product": (
        "np.tril(np.full((3, 3), 1e13)).astype(np.float32)",
        "ops.prod(a)",
        "torch.prod(a)",
        {"torch-graph"},
    ),
    "masked logarithm": (
        "np.array([0.0, 1.3, 2.1], np.float32)",
        "ops.where(a > 0, ops.log(ops.clamp(a, 1e-6, None)), ops.zeros_like(a)).sum()",
        "torch.where(a > 0, torch.log(a), torch.zeros_like(a)).sum()",
        TORCH,
    ),
    "infinity against nan": (
        "np.array([89.5, 3.3], np.float32)",
        "ops.exp(a).sum()",
        "(torch.exp(a) / (1 + 0 * torch.exp(a))).sum()",
        TORCH,
    ),
}
"""Nets by name: the input, both nets, and the engines that part from the others."""


def file_of(folder: Path, a: str, mindspore: str, torch: str) -> Path:
    """A scenario of one input and an expression of it on both sides."""
    sides = Side("", f"return {mindspore}"), Side("", f"return {torch}")
    return written(folder, scenario_text(f'return {{"a": {a}}}', *sides, "a"))


def judged(folder: Path, workers: Workers, *net: str) -> CaseReport:
    scenario = load(file_of(folder, *net))
    (case,) = explore(scenario, workers, selection="main", graphs=False).cases
    return case


@pytest.mark.parametrize("name", some(PARTED, "masked logarithm", "infinity against nan"))
def test_what_is_not_finite_on_one_side_alone_differs(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    a, mindspore, torch, others = PARTED[name]
    case = judged(tmp_path, workers, a, mindspore, torch)
    assert case.verdict == "differs"
    assert not case.expected
    assert case.greatest is not None
    assert case.greatest.abs == float("inf")
    between = {(one, other) for one in case.results for other in case.results}
    parted = {pair for pair in between if (pair[0] in others) != (pair[1] in others)}
    assert {frozenset(pair) for pair in case.apart} == {frozenset(pair) for pair in parted}


@pytest.mark.whole
def test_a_loss_that_is_nan_on_one_side_and_infinite_on_the_other_differs(
    tmp_path: Path, workers: Workers
) -> None:
    path = file_of(tmp_path, "np.zeros((0, 3), np.float32)", "ops.mean(a)", "torch.mean(a)")
    report = explore(load(path), workers, selection="all", graphs=False)
    for case in report.cases:
        has_loss = case.case.api == "value_and_grad" and case.verdict != "all_raise"
        assert case.verdict in (("differs",) if has_loss else ("match", "all_raise"))


EVERYWHERE = {
    "a root at the border of its domain": (
        "np.array([0.0, 1.3], np.float32)",
        "ops.sqrt(a).sum()",
        "torch.sqrt(a).sum()",
        "agrees, in part",
    ),
    "a pole, with numbers to either side": (
        "np.array([0.0, 1.3], np.float32)",
        "(1 / (a * a)).sum()",
        "(1 / (a * a)).sum()",
        "cannot judge",
    ),
}
"""Nets on which all agree: the input, both nets, and the oracle's word."""


@pytest.mark.parametrize("name", some(EVERYWHERE, "a root at the border of its domain"))
def test_what_is_not_finite_everywhere_matches_and_the_oracle_says_what_it_can(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    a, mindspore, torch, word = EVERYWHERE[name]
    case = judged(tmp_path, workers, a, mindspore, torch)
    assert case.verdict == "match"
    assert case.expected
    assert oracle(case) == word


TAPES = ("mindspore-tape", "torch-tape")
TEXT = TWINS["dropout_branch"]


def test_a_net_with_dropout_is_as_expected_in_all_engines(workers: Workers) -> None:
    scenario = load(net_file("dropout_branch"))
    report = explore(scenario, workers, selection="main", graphs=False)
    case = report.cases[0]
    assert list(case.results) == list(ENGINES)
    assert {result.outcome for result in case.results.values()} == {"ok"}
    # What passes through the dropout, and nothing else.
    assert case.drawn == ("dx", "dleft.weight", "dleft.bias")
    assert (case.verdict, case.oracle_agrees, case.expected) == ("match", True, True)


def test_a_mistake_beside_the_dropout_is_found(tmp_path: Path, workers: Workers) -> None:
    mindspore, torch = TEXT.split("def torch_net")
    assert torch.count("torch.tanh") == 1
    wrong = f"{mindspore}def torch_net{torch.replace('torch.tanh', 'torch.sigmoid')}"
    scenario = load(written(tmp_path, wrong, "wrong_beside.py"))
    report = explore(scenario, workers, engines=TAPES, selection="main")
    case = report.cases[0]
    assert case.drawn == ("dx", "dleft.weight", "dleft.bias")
    assert (case.verdict, case.expected) == ("differs", False)
    assert case.greatest
    assert case.greatest.leaf not in case.drawn
    (alignment,) = report.alignments
    assert set(alignment.drawn) == {"loss", *case.drawn}
    assert alignment.divergence
    assert first_divergence(alignment).startswith("First divergence")
    assert "aten.sigmoid" in first_divergence(alignment)


SHARED = TEXT.replace("SAME_DROPOUT = False\n", "")


def test_by_default_dropout_layers_drop_the_same_and_a_remark_says_so(
    tmp_path: Path, workers: Workers
) -> None:
    scenario = load(written(tmp_path, SHARED, "shared.py"))
    report = explore(scenario, workers, selection="main", graphs=False)
    case = report.cases[0]
    assert (case.verdict, case.drawn, case.oracle_agrees) == ("match", (), True)
    (remark,) = report.findings
    assert (remark.kind, remark.names, remark.is_alarm) == ("masks", ("drop",), False)
    assert "SAME_DROPOUT" in case.results["torch-tape"].code


@pytest.mark.whole
def test_what_a_net_draws_when_it_is_made_is_its_start(workers: Workers) -> None:
    report = explore(
        load(net_file("ms_drawn_start")), workers, engines=TAPES, selection="main", graphs=False
    )
    case = report.cases[0]
    assert [leaf.name for leaf in case.results["mindspore-tape"].leaves] == ["dx", "out1"]
    assert case.drawn == ("out1",)
