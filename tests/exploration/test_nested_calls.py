"""An order beside --cases main: the nested calls are run, and their results compared."""

import numpy as np
import pytest

from explorer.cli.entry import run
from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.samples import some
from tests.support.scenario_reports import leaves, row

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("mindspore-tape", "torch-tape")
NESTED = GradCase("grad", 0, order=2)


def test_the_main_case_and_the_nested_calls_of_an_order_are_run(workers: Workers) -> None:
    report = explore(
        load(NETS / "square.py"), workers, engines=TAPES, order=3, selection="main", graphs=False
    )
    asked = [case.case for case in report.cases]
    assert asked == [GradCase("grad", 0), NESTED, GradCase("grad", 0, order=3)]
    for engine in TAPES:
        values = leaves(row(report, NESTED), engine)
        np.testing.assert_array_equal(np.unique(next(iter(values.values()))), [2])
    (left_out,) = report.left_out
    assert not set(left_out.cases) & set(asked)


def test_a_case_that_is_named_is_run_alone(workers: Workers) -> None:
    report = explore(
        load(NETS / "square.py"),
        workers,
        engines=TAPES,
        order=2,
        graph_case=GradCase("grad", 0).label,
        selection="main",
        graphs=False,
    )
    assert [case.case for case in report.cases] == [GradCase("grad", 0)]


@pytest.mark.whole
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    "options", some((("--order", "2"), ("--case", NESTED.label)), ("--order", "2"))
)
def test_diff_takes_an_order_and_the_name_of_a_nested_call(
    options: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    file = str(NETS / "square.py")
    assert run(["diff", file, "mindspore-tape", "torch-tape", *options]) == 0
    label, headline, *_ = capfd.readouterr().out.splitlines()
    assert label == NESTED.label
    assert "mindspore-tape and torch-tape agree" in headline
