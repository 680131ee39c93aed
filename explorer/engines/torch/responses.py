"""What PyTorch's net returns from several starts, which tells whose parameters are whose."""

import torch

from explorer.engines.torch.errors import failure
from explorer.engines.torch.net import build, flat, forward, tensor
from explorer.engines.torch.tensors import packed
from explorer.model.arrays import Array, unpack
from explorer.model.requests import Responses, ResponsesRequest


def responses(request: ResponsesRequest) -> Responses:
    """The outputs of the forward from each start, or why one failed."""
    outputs: list[tuple[Array, ...]] = []
    try:
        net = build(request.net)
        held = {**net.constants, **net.state}
        for start in request.starts:
            with torch.no_grad():
                for name, values in start.items():
                    if name in held:
                        held[name].copy_(tensor(unpack(values), request.net.device))
            outputs.append(tuple(map(packed, flat(forward(net)))))
    except Exception as error:
        return Responses(error=failure(error, request.net.scenario))
    return Responses(tuple(outputs))
