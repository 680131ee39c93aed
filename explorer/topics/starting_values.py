"""The same start for both nets of a scenario without the frameworks' workers talking: its own
values, or seeded draws by name.
"""

import zlib

import numpy as np

from explorer.model.arrays import Array, pack
from explorer.model.measurement import Ask
from explorer.model.requests import Description, NetRequest
from explorer.scenario.load import load


def net_request(ask: Ask, engine: str) -> NetRequest:
    """The net of ``ask.scenario`` for an engine, with the scenario's own starting values where it
    has some.
    """
    own = load(ask.scenario).parameters() or {}
    start = {name: pack(value) for name, value in own.items()}
    return NetRequest(scenario=ask.scenario, engine=engine, device=ask.device, parameters=start)


def drawn_parameters(seen: Description) -> dict[str, Array]:
    """Starting values for the trainable parameters of a net: uniform within ±1/√(row length), by a
    seed made of the name.
    """
    parameters: dict[str, Array] = {}
    for spec in seen.parameters:
        if not spec.trainable:
            continue
        shape = spec.value.shape
        size = int(np.prod(shape, dtype=int))
        rows = shape[0] if len(shape) > 1 else 1
        row_length = max(size // rows, 1)
        draws = np.random.default_rng(zlib.crc32(spec.name.encode())).uniform(
            -1, 1, size
        ) / np.sqrt(row_length)
        parameters[spec.name] = pack(draws.reshape(shape).astype(np.float32), spec.value.dtype)
    return parameters
