"""Nets that differ in what they train, or in what hides a mistake: told, and gone on with."""

import pytest

from explorer.exploration.explore import explore
from explorer.model.engines import ENGINES
from explorer.scenario.load import load, module_of
from explorer.words.divergences import first_divergence
from explorer.words.findings import sentence
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.samples import some

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_what_one_net_alone_trains_is_found_and_the_rest_is_compared(workers: Workers) -> None:
    scenario = load(NETS / "trained_apart.py")
    report = explore(scenario, workers, selection="main", graphs=False)
    sentences = {finding.names[0]: sentence(finding) for finding in report.findings}
    assert sentences["fc.weight"].startswith("fc.weight is trained in PyTorch and frozen")
    assert sentences["scale"] == "scale is trained in PyTorch and a plain tensor in MindSpore"
    assert "int32" in sentences["steps"]
    assert len(sentences) == len(report.findings) == 3
    assert not report.is_as_expected

    (case,) = report.cases
    assert case.verdict in ("match", "close")
    assert case.case.weights == "all"
    names = {leaf.name for leaf in case.results["mindspore-graph"].leaves}
    assert names >= {"dfc.bias", "dlast.weight", "dlast.bias"}
    assert names.isdisjoint({"dfc.weight", "dscale", "dsteps"})


@pytest.mark.parametrize(
    "name",
    some(("buffer_hides_mistake", "folded_constant_hides_mistake"), "buffer_hides_mistake"),
)
def test_a_mistake_beside_a_constant_is_named_in_every_pair_of_engines(
    name: str, workers: Workers
) -> None:
    scenario = load(NETS / "hidden" / f"{name}.py")
    lines = {
        line.strip(): number for number, line in enumerate(scenario.path.read_text().split("\n"), 1)
    }
    at_fault = {f"{name}.py:{lines[line]}" for line in module_of(scenario).FAULT.values()}
    report = explore(scenario, workers, selection="main")
    for alignment in report.alignments:
        frameworks = {ENGINES[alignment.left].framework, ENGINES[alignment.right].framework}
        if len(frameworks) == 1:
            assert alignment.divergence is None
        else:
            assert alignment.divergence is not None
            located = {alignment.divergence.ends[0].source, alignment.divergence.ends[1].source}
            named = {source.rsplit("/", 1)[-1] for source in located}
            assert named == at_fault, first_divergence(alignment)
