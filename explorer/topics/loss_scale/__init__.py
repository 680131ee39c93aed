"""Loss scaling: what underflows and overflows in each float, and how scalers live."""

from explorer.topics.loss_scale import claims, findings
from explorer.topics.loss_scale.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings"]
