"""The same start for both nets of a scenario without the frameworks' workers talking: its own values, or seeded draws by name."""

import zlib

import numpy as np

from explorer.arrays import Array, pack
from explorer.measuring import Ask
from explorer.records import Description, NetRequest
from explorer.scenario import load


def request(ask: Ask, engine: str) -> NetRequest:
    """The net of ``ask.scenario`` for an engine, with the scenario's own starting values where it has some."""
    own = load(ask.scenario).parameters() or {}
    start = {name: pack(value) for name, value in own.items()}
    return NetRequest(scenario=ask.scenario, engine=engine, device=ask.device, parameters=start)


def drawn(seen: Description) -> dict[str, Array]:
    """Starting values for the trainable parameters of a net: uniform within ±1/√(row length), by a seed made of the name."""
    made = {}
    for spec in seen.parameters:
        if spec.trainable:
            size = int(np.prod(spec.value.shape, dtype=int))
            rows = spec.value.shape[0] if len(spec.value.shape) > 1 else 1
            draw = np.random.default_rng(zlib.crc32(spec.name.encode())).uniform(-1, 1, size) / np.sqrt(max(size // rows, 1))
            made[spec.name] = pack(draw.reshape(spec.value.shape).astype(np.float32), spec.value.dtype)
    return made
