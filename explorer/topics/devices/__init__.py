"""Devices: which there are, where tensors live, how they move, and the matrix on each of them."""

from explorer.topics.devices import claims, findings
from explorer.topics.devices.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings"]
