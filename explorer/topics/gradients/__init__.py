"""Gradients: what a gradient call returns, by position, weights and outputs, and the older form."""

from explorer.topics.gradients import claims
from explorer.topics.gradients.questions import TOPIC

__all__ = ["TOPIC", "claims"]
