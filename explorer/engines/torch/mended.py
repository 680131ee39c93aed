"""PyTorch's computation of a case once more, with the other side's values in the places of its own."""

from collections.abc import Iterable
from functools import lru_cache

import msgspec
import torch

from explorer.engines.torch.graph import recorded_graph
from explorer.engines.torch.net import tensor
from explorer.engines.torch.put_in import Values
from explorer.engines.torch.tape import ready, solve_recorded
from explorer.engines.torch.tape_capture import TapeGradGraph
from explorer.engines.torch.trials import tried
from explorer.model.arrays import unpack
from explorer.model.mended import MendedRequest, MendedRun, PutIn
from explorer.model.requests import CaseRequest
from explorer.numeric.summaries import MOST, MOST_IN_GRAPH, keeping
from explorer.workers.garbage_collection import paused


@paused()
@keeping(MOST, MOST_IN_GRAPH)
def capture_mended(request: MendedRequest) -> MendedRun:
    """The graph of a case in which some nodes yield other values, and trials on it."""
    case = request.request
    compute = _joint if case.net.engine == "torch-graph" else _tape
    try:
        return compute(request, _by_node(request.put_in, case.net.device))
    except Exception:
        return MendedRun(None)  # with other values a net may take other ways


def _tape(request: MendedRequest, values: dict[str, Values]) -> MendedRun:
    case = request.request
    numbers = _record_numbers(msgspec.msgpack.encode(case))
    instead = {numbers[node]: outputs for node, outputs in values.items()}
    _, recording = solve_recorded(ready(case), case.case, instead)
    drawn = TapeGradGraph(recording, values=True)
    return MendedRun(drawn.record(case.case.label), tried(request.trials, drawn))


@lru_cache(maxsize=4)
def _record_numbers(encoded: bytes) -> dict[str, int]:
    """The numbers of the records behind the nodes of a tape, by the nodes' ids."""
    case = msgspec.msgpack.decode(encoded, type=CaseRequest)
    _, recording = solve_recorded(ready(case), case.case)
    drawn = TapeGradGraph(recording, values=False)
    ids = drawn.builder.ids()
    return {ids[node]: number for number, node in drawn.nodes.items() if node in ids}


def _joint(request: MendedRequest, values: dict[str, Values]) -> MendedRun:
    case = request.request
    drawn = recorded_graph(case, values)
    return MendedRun(drawn.record(case.case.label), tried(request.trials, drawn))


def _by_node(put_in: Iterable[PutIn], device: str) -> dict[str, Values]:
    """The values by node and output, as tensors."""
    values: dict[str, dict[int, torch.Tensor | None]] = {}
    for one in put_in:
        value = None if one.value is None else tensor(unpack(one.value), device)
        values.setdefault(one.node, {})[one.output] = value
    return dict(values)
