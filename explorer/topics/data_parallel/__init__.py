"""Data parallel training: local and reduced gradients of two real processes, and their seeds."""

from explorer.topics.data_parallel import claims, findings
from explorer.topics.data_parallel.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings"]
