"""What MindSpore's net returns from several starts, which tells whose parameters are whose."""

import mindspore as ms

from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.net import build, flat, forward, packed
from explorer.model.arrays import Array
from explorer.model.requests import Responses, ResponsesRequest


def responses(request: ResponsesRequest) -> Responses:
    """The outputs of the forward from each start, or why one failed."""
    outputs: list[tuple[Array, ...]] = []
    try:
        net = build(request.net)
        for start in request.starts:
            for name, values in start.items():
                if name in net.held:
                    net.held[name].start_from(values)
            ms.set_seed(0)
            outputs.append(tuple(map(packed, flat(forward(net)))))
    except Exception as error:
        return Responses(error=failure(error, request.net.scenario))
    return Responses(tuple(outputs))
