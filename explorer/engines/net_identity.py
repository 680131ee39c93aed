"""A digest that tells nets apart, whichever framework they are of."""

import hashlib
from pathlib import Path

import msgspec

from explorer.model.requests import NetRequest
from explorer.scenario.find import files_read


def identity(request: NetRequest) -> bytes:
    """A digest of all that makes a net: the scenario's files, the device, the starting values."""
    files = files_read(Path(request.scenario))
    parts = (request.scenario, files, request.device, request.parameters)
    return hashlib.sha256(msgspec.msgpack.encode(parts, order="sorted")).digest()
