"""The record of a study, made by hand: a finding, a table, a chart, and what could not be measured."""

from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.model.study import Chart, Series, StudyRecord, Table

ERROR = Failure("MissingFramework", "No module named 'torch'")
RECORD = StudyRecord(
    study="s",
    title="S",
    question="What?",
    scenario="",
    device="cpu",
    versions={"mindspore": "2.10.0"},
    measured={
        "s.one": Measured(outcome="unsupported", error=ERROR),
        "s.two": Measured(outcome="ok", figures={"a": 1}),
    },
    findings=("A finding | with a bar.",),
    tables=(Table(title="t", columns=("a", "b"), rows=((1, None), (0.1234567891, True))),),
    charts=(
        Chart(
            name="s-chart",
            title="A chart",
            kind="bars",
            x="",
            y="y",
            series=(Series("one", ("a",), (1.0,)),),
        ),
    ),
)
