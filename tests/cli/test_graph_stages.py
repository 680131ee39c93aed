"""Pictures of an earlier stage have no pair numbers: those of the report are of the last one."""

from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from explorer.api.results import Exploration
from explorer.cli import graph as graph_command
from explorer.cli.options import GraphOptions
from explorer.model.passes import EXPANDED, FINAL
from explorer.model.report import Report
from tests.support.deep_nets import deep_report

ENGINES = ("torch-tape", "mindspore-graph")

BADGE = 'class="badge"'


@cache
def whole() -> Report:
    return deep_report(2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "has_numbers"), [(None, True), (FINAL.stage, True), (EXPANDED.stage, False)]
)
def test_pairs_have_numbers_where_both_graphs_are_the_last_ones(
    stage: str | None, has_numbers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = SimpleNamespace(wanted=SimpleNamespace(engines=ENGINES))
    monkeypatch.setattr(graph_command, "checked_plan", lambda options, engines: plan)
    monkeypatch.setattr(graph_command, "explored", lambda plan: whole())
    file = tmp_path / "two.svg"
    options = GraphOptions(name="net", output=file, engines=list(ENGINES), depth="all", stage=stage)
    assert graph_command.write_graph(options) == 0
    written = file.read_text()
    drawn = Exploration(whole()).graph(*ENGINES, depth="all", stage=stage)
    assert (BADGE in written) is (BADGE in drawn.text) is has_numbers
    assert all((BADGE in svg.decode()) is has_numbers for svg in drawn.each())
