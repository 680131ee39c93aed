"""Learning-rate schedules: both frameworks' schedules side by side, as sequences and as curves."""

from explorer.topics.schedules import claims, findings
from explorer.topics.schedules.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings", "tables"]
