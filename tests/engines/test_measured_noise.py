"""Measured noise on both frameworks' tapes: it changes no answer, hides no mistake, and is told."""

from pathlib import Path

import msgspec
import pytest

from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.model.engines import FRAMEWORKS, Framework
from explorer.model.report import Report
from explorer.scenario.load import load, module_of
from explorer.words.findings import sentence
from explorer.workers.workers import Workers
from tests.planted.naming import TAPES
from tests.support.engine_requests import EngineRequests
from tests.support.nets import NETS

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def tapes(name: str, workers: Workers) -> Report:
    return explore(load(path(name)), workers, engines=TAPES, selection="main")


def path(name: str) -> Path:
    return NETS / f"{name}.py"


def lines_at_fault(name: str) -> set[str]:
    """The lines of a net's file that its FAULT names: "off_by_little.py:30"."""
    fault = module_of(load(path(name))).FAULT.values()
    lines = path(name).read_text(encoding="utf-8").splitlines()
    return {f"{name}.py:{lines.index(f'            {line}') + 1}" for line in fault}


@pytest.mark.parametrize(
    "framework", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in FRAMEWORKS]
)
def test_gradients_are_the_same_bits_with_and_without_the_measuring(
    framework: Framework, workers: Workers
) -> None:
    name = "attention_block"
    engine = EngineRequests(workers, framework)
    tape = f"{framework}-tape"
    case = GradCase("value_and_grad", 0, "all")
    before, captured = engine.answer(name, tape, case), engine.capture(name, tape, case)
    assert before.outcome == "ok"

    measured = engine.noise(name, case)
    graph = engine.measured_graph(name, case)
    assert any(leaf.movement.data.strip(b"\0") for leaf in measured.leaves)
    assert any(output.noise for node in graph.nodes for output in node.outputs)

    after, again = engine.answer(name, tape, case), engine.capture(name, tape, case)
    assert after.leaves == before.leaves == captured.result.leaves
    assert again.result.leaves == before.leaves
    # As text: an argument may be NaN, which is unlike itself.
    assert msgspec.json.encode(again.graphs) == msgspec.json.encode(captured.graphs)


def test_float16_inside_is_no_difference(workers: Workers) -> None:
    report = tapes("half_inside", workers)
    (case,), (alignment,) = report.cases, report.alignments
    assert case.verdict == "match"
    assert case.oracle_agrees
    assert alignment.divergence is None
    assert not case.in_torch_table
    assert report.is_as_expected


@pytest.mark.parametrize(
    ("name", "differing"),
    [
        ("off_by_little", None),
        pytest.param("tiny_gradient", "dx", marks=pytest.mark.whole),
    ],
)
def test_a_mistake_of_1e_4_and_half_a_gradient_of_1e_12_are_named_by_their_lines(
    name: str, differing: str | None, workers: Workers
) -> None:
    report = tapes(name, workers)
    (case,), (alignment,) = report.cases, report.alignments
    assert (case.verdict, case.expected, alignment.expected) == ("differs", False, False)
    assert case.greatest is not None
    assert case.greatest.ratio > 16
    assert alignment.divergence is not None
    sources = {alignment.divergence.ends[0].source, alignment.divergence.ends[1].source}
    assert {Path(source).name for source in sources} == lines_at_fault(name)
    if differing:
        assert alignment.differing == (differing,)


@pytest.mark.parametrize(
    ("name", "module", "line"),
    [
        pytest.param(
            "nearly_constant_batch", "bn", "normalised = self.bn(x)", marks=pytest.mark.whole
        ),
        pytest.param("cancelling_softmax", "", "logits = b - a", marks=pytest.mark.whole),
        # Inputs moved by their last place keep what is left of them: each op must round otherwise.
        ("nearly_itself", "", "rest = x - 0.99999 * x"),
    ],
)
def test_an_op_that_multiplies_rounding_is_a_remark_on_its_line_and_no_alarm(
    name: str, module: str, line: str, workers: Workers
) -> None:
    report = tapes(name, workers)
    assert report.is_as_expected
    assert report.cases[0].oracle_agrees
    assert [finding.kind for finding in report.findings] == ["conditioning"] * len(TAPES)
    lines = path(name).read_text(encoding="utf-8").splitlines()
    numbers = [number for number, text in enumerate(lines, 1) if text.strip() == line]
    sentences = [sentence(finding) for finding in report.findings]
    # One of each framework's net, in the order of TAPES or the other way round.
    for number in numbers:
        assert sum(f"{name}.py:{number})" in sentence for sentence in sentences) == 1
    assert all(f"({module}" in sentence for sentence in sentences)
