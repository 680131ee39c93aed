"""Networks: the modes of cells and modules, what registers a parameter, the names of parts, and
what a graph takes.
"""

from explorer.topics.networks import claims
from explorer.topics.networks.questions import TOPIC

__all__ = ["TOPIC", "claims"]
