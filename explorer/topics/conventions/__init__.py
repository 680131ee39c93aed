"""Conventions: what each framework chooses where it may choose, and who chooses alike."""

from explorer.topics.conventions import findings
from explorer.topics.conventions.questions import TOPIC

__all__ = ["TOPIC", "findings"]
