"""Networks: modes of cells and modules, registering parameters, names of parts, graph limits."""

from explorer.topics.networks import claims, claims_porting
from explorer.topics.networks.questions import TOPIC

__all__ = ["TOPIC", "claims", "claims_porting"]
