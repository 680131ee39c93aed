"""The noise of PyTorch's results and nodes: the same engine again on inputs that round otherwise."""

import msgspec

from explorer.engines.noise import JITTERS, drawn_leaves, noisy_graphs, result_noise
from explorer.engines.torch import graph, tape
from explorer.engines.torch.rounding import RandomRounding
from explorer.model.noise import ResultNoise
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result

ENGINES = {"torch-tape": tape, "torch-graph": graph}


def results(request: CaseRequest) -> ResultNoise:
    """The noise of the answer to one case, leaf by leaf."""
    engine = ENGINES[request.net.engine]
    # First without rounding: Dynamo, which derives a joint graph once, does not end in a mode.
    plain = engine.answer(request)
    if plain.outcome != "ok":
        return result_noise(plain, [])
    moved: list[Result] = []
    has_drawn = False
    for sample in range(1, JITTERS + 1):
        rounding = RandomRounding(sample)
        with rounding:
            moved.append(engine.answer(jittered(request, sample)))
        has_drawn |= rounding.has_drawn
    drawn = drawn_leaves(plain, engine.answer, request) if has_drawn else ()
    return result_noise(plain, [moved], drawn)


def capture(request: CaseRequest) -> Captured:
    """The graph of one case with the noise of every node."""
    engine = ENGINES[request.net.engine]
    plain = engine.capture(request)
    moved: list[Captured] = []
    if plain.graphs:
        for sample in range(1, JITTERS + 1):
            with RandomRounding(sample):
                moved.append(engine.capture(jittered(request, sample)))
    return noisy_graphs(plain, [moved])


def jittered(request: CaseRequest, sample: int) -> CaseRequest:
    """The request for the same case on inputs and parameters that are moved a little."""
    return msgspec.structs.replace(request, net=msgspec.structs.replace(request.net, jitter=sample))
