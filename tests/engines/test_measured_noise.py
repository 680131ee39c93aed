"""Measured noise on both frameworks' tapes: it changes no answer, hides no mistake, and is told."""

from pathlib import Path

import msgspec
import pytest

from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.model.engines import Framework
from explorer.model.report import Report
from explorer.scenario.load import load, module_of
from explorer.words.findings import sentence
from explorer.workers.workers import Workers
from tests.planted.naming import TAPES
from tests.support.engine_requests import EACH_FRAMEWORK, EngineRequests
from tests.support.nets import net_file
from tests.support.scenario_files import Side, normal, scenario_text, written

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

NORM = "self.bn = nn.BatchNorm1d(4, eps=1e-9)"
REST = "rest = x - 0.99999 * x\nreturn rest.square().sum()"

MADE = {
    # A gradient of 1e-12 that PyTorch's net lets through by half, beside one that is right.
    "tiny_gradient": scenario_text(
        """
        drawn = np.random.default_rng(8)
        return {name: drawn.uniform(0.5, 1.5, (3, 4)).astype(np.float32) for name in "xy"}
        """,
        Side("", "used = x * 1.5\nreturn (ops.tanh(used) * y).sum() * 1e-12"),
        Side(
            "",
            """
            used = x * 0.75 + (x * 0.75).detach()
            return (torch.tanh(used) * y).sum() * 1e-12
            """,
        ),
        "x, y",
        """
        FAULT = {
            "mindspore_line": "used = x * 1.5",
            "torch_line": "used = x * 0.75 + (x * 0.75).detach()",
        }
        """,
    ),
    # Inputs of mean 100, of which float32 keeps 7e-6, that are spread by 0.01 about it.
    "nearly_constant_batch": scenario_text(
        """
        drawn = np.random.default_rng(2).standard_normal((16, 4))
        return {"x": (100.0 + 0.01 * drawn).astype(np.float32)}
        """,
        Side(NORM, "normalised = self.bn(x)\nreturn ops.tanh(normalised).square().sum()"),
        Side(NORM, "normalised = self.bn(x)\nreturn torch.tanh(normalised).square().sum()"),
    ),
    # The difference of large logits keeps few of the digits that they have.
    "cancelling_softmax": scenario_text(
        """
        drawn = np.random.default_rng(4).standard_normal((2, 3, 5)).astype(np.float32)
        large = (20_000 + 100 * drawn[0]).astype(np.float32)
        return {"a": large, "b": (large + drawn[1]).astype(np.float32)}
        """,
        Side("", "logits = b - a\nreturn ops.softmax(logits * 1.1, axis=-1).square().sum()"),
        Side("", "logits = b - a\nreturn torch.softmax(logits * 1.1, dim=-1).square().sum()"),
        "a, b",
    ),
    # What is left is made of the digits that rounding moves.
    "nearly_itself": scenario_text(normal(5, 6, seed=0), Side("", REST), Side("", REST)),
}
"""The texts of nets."""


def file_of(name: str, folder: Path) -> Path:
    """The file of a net of MADE, or of the tests."""
    return written(folder, MADE[name], f"{name}.py") if name in MADE else net_file(name)


def tapes(path: Path, workers: Workers) -> Report:
    return explore(load(path), workers, engines=TAPES, selection="main")


def lines_at_fault(path: Path) -> set[str]:
    """The lines of a net's file that its FAULT names: "off_by_little.py:30"."""
    fault = module_of(load(path)).FAULT.values()
    lines = path.read_text(encoding="utf-8").splitlines()
    return {f"{path.name}:{lines.index(f'            {line}') + 1}" for line in fault}


@pytest.mark.parametrize("framework", EACH_FRAMEWORK)
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
    report = tapes(net_file("half_inside"), workers)
    (case,), (alignment,) = report.cases, report.alignments
    assert case.verdict == "match"
    assert case.oracle_agrees
    assert alignment.divergence is None
    assert not case.in_torch_table
    assert report.is_as_expected


@pytest.mark.parametrize(
    ("name", "differing"),
    [("off_by_little", None), pytest.param("tiny_gradient", "dx", marks=pytest.mark.whole)],
)
def test_a_mistake_of_1e_4_and_half_a_gradient_of_1e_12_are_named_by_their_lines(
    name: str, differing: str | None, workers: Workers, tmp_path: Path
) -> None:
    path = file_of(name, tmp_path)
    report = tapes(path, workers)
    (case,), (alignment,) = report.cases, report.alignments
    assert (case.verdict, case.expected, alignment.expected) == ("differs", False, False)
    assert case.greatest is not None
    assert case.greatest.ratio > 16
    assert alignment.divergence is not None
    sources = {alignment.divergence.ends[0].source, alignment.divergence.ends[1].source}
    assert {Path(source).name for source in sources} == lines_at_fault(path)
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
    name: str, module: str, line: str, workers: Workers, tmp_path: Path
) -> None:
    path = file_of(name, tmp_path)
    report = tapes(path, workers)
    assert report.is_as_expected
    assert report.cases[0].oracle_agrees
    assert [finding.kind for finding in report.findings] == ["conditioning"] * len(TAPES)
    lines = path.read_text(encoding="utf-8").splitlines()
    numbers = [number for number, text in enumerate(lines, 1) if text.strip() == line]
    sentences = [sentence(finding) for finding in report.findings]
    # One of each framework's net, in the order of TAPES or the other way round.
    for number in numbers:
        assert sum(f"{path.name}:{number})" in sentence for sentence in sentences) == 1
    assert all(f"({module}" in sentence for sentence in sentences)
