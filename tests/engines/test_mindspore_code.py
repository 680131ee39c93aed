"""The code listings beside MindSpore's answers; no framework is needed to write them."""

import ast

import pytest

from explorer.engines.mindspore.code import code
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.scenario.matrix import matrix
from tests.support.nets import net_file

BOTH = ("mindspore-graph", "mindspore-tape")


def listing(engine: str, case: GradCase) -> str:
    return code(CaseRequest(NetRequest(scenario=str(net_file("ms_dense")), engine=engine), case))


@pytest.mark.slow
@pytest.mark.parametrize("engine", BOTH)
def test_the_code_of_every_case_is_python(engine: str) -> None:
    for case in matrix(2, True, order=3):
        assert ast.parse(listing(engine, case)).body, case.label


@pytest.mark.parametrize(
    ("engine", "mode"), [("mindspore-graph", "GRAPH_MODE"), ("mindspore-tape", "PYNATIVE_MODE")]
)
def test_the_code_runs_in_the_mode_of_the_engine(engine: str, mode: str) -> None:
    assert f"ms.set_context(mode=ms.{mode})" in listing(engine, GradCase("grad", 0))


@pytest.mark.parametrize(
    ("case", "call"),
    [
        (
            GradCase("value_and_grad", (0, 1), "all", True),
            "ms.value_and_grad(net, grad_position=(0, 1), weights=weights, has_aux=True)(x, y)",
        ),
        (
            GradCase("grad", 1, order=2),
            "ms.grad(ms.grad(net, 1), grad_position=1, weights=None)(x, y)",
        ),
        (
            GradCase("GradOperation", None, "all", get_by_list=True, sens_param=True),
            "ms.ops.GradOperation(get_by_list=True, sens_param=True)(net, weights)(x, y, sens)",
        ),
    ],
)
def test_a_case_is_written_as_the_call_that_the_api_pages_show(case: GradCase, call: str) -> None:
    assert listing("mindspore-tape", case).endswith(f"print({call})\n")
