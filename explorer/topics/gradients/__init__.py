"""Gradients: what a gradient call takes and returns, rules of one's own, and the older form."""

from explorer.topics.gradients import claims, claims_arguments
from explorer.topics.gradients.questions import TOPIC

__all__ = ["TOPIC", "claims", "claims_arguments", "claims_custom"]
