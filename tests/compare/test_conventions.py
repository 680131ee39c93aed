"""Gradients that are no derivatives by convention, on graphs written down by hand."""

import msgspec
import pytest

from explorer.compare.results.remarks import CONVENTIONS, conventions
from explorer.model.cases import GradCase
from explorer.model.findings import OwnConvention
from explorer.model.report import AnswerGroup
from tests.support.handmade_graph import HandmadeGraph
from tests.support.sample_report import case_report

AGREED = case_report(GradCase("grad", 0))


@pytest.mark.parametrize("op", ["aten._ctc_loss.Tensor", "aten._ctc_loss.default", "CTCLossV2"])
def test_a_convention_is_named_where_the_oracle_refutes_the_framework_of_its_graph(op: str) -> None:
    g = HandmadeGraph()
    loss = g.add(op, [g.add("x", kind="input", name="x")])
    g.add("ctc_loss_backward", [loss], phase="backward", forward=loss)
    g.result("loss", loss)
    graph = g.record()
    groups = (AnswerGroup((graph.engine,), False),)
    (finding,) = conventions([graph, graph], msgspec.structs.replace(AGREED, groups=groups))
    assert isinstance(finding.fact, OwnConvention)
    assert (finding.fact.place.label, finding.fact.known) == (op, CONVENTIONS["ctcloss"])
    others = (AnswerGroup((graph.engine,), True), AnswerGroup(("jax-tape",), False))
    for confirmed in (AGREED, msgspec.structs.replace(AGREED, groups=others)):
        assert conventions([graph], confirmed) == ()
