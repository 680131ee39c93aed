"""Devices: what each framework sees, where tensors live, how they move, what comes back to the host,
and the matrix on each device.
"""

from explorer.topics.devices import claims, findings
from explorer.topics.devices.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings"]
