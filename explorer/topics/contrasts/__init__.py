"""Where engines differ: along styles, along frameworks, or otherwise (row 85)."""

from explorer.topics.contrasts import claims
from explorer.topics.contrasts.questions import TOPIC

__all__ = ["TOPIC", "claims"]
