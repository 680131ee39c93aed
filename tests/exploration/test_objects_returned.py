"""Objects that a net returns beside its tensors: left out, and said."""

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.model.findings import Omitted
from explorer.scenario.load import load
from explorer.words.findings import sentence
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.scenario_reports import BY_FIRST, leaves, row

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_a_class_with_a_cache_is_taken_by_its_tensors_on_every_engine(workers: Workers) -> None:
    report = explore(load(NETS / "model_output.py"), workers, selection="structure")
    (finding,) = report.findings
    assert finding.fact == Omitted("torch", {"past_key_values": "Cache"})
    assert finding.is_remark
    assert sentence(finding) == (
        "PyTorch's net returns past_key_values (Cache) beside its tensors; only the tensors are"
        " compared and differentiated"
    )
    assert report.is_as_expected
    answered = [case for case in report.cases if case.verdict != "all_raise"]
    assert len(answered) > 2
    for case in answered:
        assert {result.outcome for result in case.results.values()} == {"ok"}
        assert case.oracle_agrees
    assert len(report.graphs) >= 4
    main = row(report, GradCase("grad", 0, "all"))
    weight = np.array([[0.5, -1.0], [2.0, 0.25], [1.0, 1.0]])
    x = np.array([[1.0, 2.0], [0.5, -1.0]])
    expected = (2 * x @ weight.T + 1) @ weight
    for engine in main.results:
        np.testing.assert_allclose(leaves(main, engine)["dx"], expected, rtol=1e-6)


@pytest.mark.whole
def test_a_dataclass_is_taken_by_its_tensors_in_both_styles(workers: Workers) -> None:
    engines = ("torch-tape", "torch-graph")
    report = explore(
        load(NETS / "dataclass_with_cache.py"), workers, engines=engines, selection="main"
    )
    (finding,) = report.findings
    assert finding.fact == Omitted("torch", {"config": "Config", "name": "str"})
    main = row(report, BY_FIRST)
    for engine in engines:
        np.testing.assert_array_equal(leaves(main, engine)["dx"], [4, 8, -12])
    assert report.is_as_expected
