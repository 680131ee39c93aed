"""PyTorch's tape where memory is written to through a view: bases, and views that were taken before."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.model.arrays import pack, unpack
from explorer.model.graph import GradGraph, Node
from explorer.model.mended import MendedRequest, MendedRun, PutIn
from explorer.model.results import Captured, Result
from explorer.workers.workers import Workers
from tests.support.engine_requests import compared, of_file, requests_of
from tests.support.narrowing import present
from tests.support.scenario_files import function_net

pytestmark = pytest.mark.torch

X = "np.arange(1, 10, dtype=np.float32).reshape(3, 3)"
LAST = "\nreturn (h * h * x).sum()"

BODIES = {
    # The transpose and its row were taken before, and show the new column.
    "views of old": "h = x.sin()\nv = h.t()\nw = v[0]\nh[:, 0] = x[1]\nh = h * w + v",
    "view of a view": "h = x.sin()\nv = h[1:]\nw = v[:, 1:]\nw.mul_(x[:2, :2])\nw.add_(1.0)\nh = h + v[0]",
    "what was written, written over": "h = x.sin()\nv = h[1]\nv.mul_(x[0])\nh[:, 0] = x[2]\nh = h * v",
    "all, then a part": "h = x.sin()\nv = h[0]\nh.add_(1.0)\nv.mul_(x[0])\nh = h + v",
    "past the tape": "h = x.sin()\nh.data[1] = 0.5\nh.data[:, 2] *= 2.0",
    "several views at once": "h = x * 2.0\na, b = h.split(2)\nh.data.mul_(3.0)\nh = h * b",
    "memory without values": "h = torch.empty(3, 3)\nfor i in range(3):\n    h[i] = x[i].exp()",
    "memory read in part": "h = torch.empty(3, 3)\nh[0] = 1.0\nh[1:] = h[0].clone() * x[1:]",
}


def captured(body: str, folder: Path, workers: Workers) -> tuple[Captured, Result]:
    """A graph in which all is run again, and the answer with the operators in another order."""
    case = of_file(function_net(folder, body + LAST, x=X))
    case = msgspec.structs.replace(case, prove="all")
    requests = requests_of(workers, "torch-tape")
    target = "explorer.engines.torch.tape:"
    there = requests.call(f"{target}capture", case, Captured)
    return there, requests.call(f"{target}replay", case, Result)


def forward(graph: GradGraph, op: str) -> list[Node]:
    return [node for node in graph.nodes if op in node.op and node.phase == "forward"]


def values(node: Node) -> Any:
    summary = present(node.outputs[0].values)
    return unpack(present(summary.whole)).tolist()


@pytest.mark.parametrize("name", BODIES)
def test_what_an_op_reads_is_what_another_one_shows_in_any_order(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    there, again = captured(BODIES[name], tmp_path, workers)
    graph = compared(there)
    ops = [node for node in graph.nodes if node.kind in ("op", "accumulate")]
    left = [node for node in ops if node.proof != "proven" and not node.missing.get("values")]
    assert left == []
    assert again.outcome == "ok"
    for leaf, other in zip(there.result.leaves, again.leaves, strict=True):
        np.testing.assert_array_equal(unpack(leaf.value), unpack(other.value))
    # A value is read once at each place, of one node.
    places = [(edge.target, edge.input) for edge in graph.edges if edge.kind != "control"]
    assert len(places) == len(set(places))


def test_a_base_and_each_view_that_is_read_later_show_what_was_written(
    tmp_path: Path, workers: Workers
) -> None:
    body = "h = x * 2.0\nv = h.t()\nw = h[2]\nh[0] = x[1]\nh = h + v"
    graph = compared(captured(body, tmp_path, workers)[0])
    (base,) = forward(graph, "CopySlices")
    assert values(base) == [[4, 5, 6], [8, 10, 12], [14, 16, 18]]
    before, after = forward(graph, "aten.t.")
    assert values(before) == [[2, 8, 14], [4, 10, 16], [6, 12, 18]]
    assert values(after) == [[4, 8, 14], [5, 10, 16], [6, 12, 18]]
    # The row below is not read any more: it is not taken again.
    assert len(forward(graph, "select")) == 3
    assert {node.forward for node in graph.nodes if node.tape == "CopySlices"} == {base.id}


def test_other_values_in_a_base_are_what_is_computed_with(tmp_path: Path, workers: Workers) -> None:
    case = of_file(function_net(tmp_path, "h = x * 2.0\nh[0] = x[1]" + LAST, x=X))
    requests = requests_of(workers, "torch-tape")
    graph = compared(requests.call("explorer.engines.torch.tape:capture", case, Captured))
    (base,) = forward(graph, "CopySlices")
    put_in = PutIn(base.id, 0, pack(np.ones((3, 3), np.float32)))
    request = MendedRequest(case, (put_in,), ())
    mended = requests.call("explorer.engines.torch.mended:capture_mended", request, MendedRun)
    # Of ones Σ h²x is the sum of x.
    assert values(forward(present(mended.graph), "sum")[0]) == 45
