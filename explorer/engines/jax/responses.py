"""What JAX's net returns from several starts, which tells whose parameters are whose."""

import jax.numpy as jnp

from explorer.engines.jax.errors import failure
from explorer.engines.jax.net import built, flat
from explorer.engines.jax.tensors import packed
from explorer.model.arrays import Array, unpack
from explorer.model.requests import Responses, ResponsesRequest


def responses(request: ResponsesRequest) -> Responses:
    """The outputs of the forward from each start, or why one failed."""
    outputs: list[tuple[Array, ...]] = []
    try:
        with built(request.net) as net:
            held = dict(net.parameters)
            for start in request.starts:
                for name, values in start.items():
                    if name in held:
                        held[name] = jnp.asarray(unpack(values), held[name].dtype)
                outputs.append(tuple(map(packed, flat(net.call(held, *net.arguments)))))
    except Exception as error:
        return Responses(error=failure(error, request.net.scenario))
    return Responses(tuple(outputs))
