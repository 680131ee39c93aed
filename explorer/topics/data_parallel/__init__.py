"""Data parallel training: two real processes a framework, their own gradients and the reduced ones,
and what seeds have to do.
"""

from explorer.topics.data_parallel import claims, findings
from explorer.topics.data_parallel.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings"]
