"""The life of the tape: what each engine records, keeps and frees.

And what it does when asked for a gradient twice.
"""

from explorer.topics.tape_life import claims, findings, tables
from explorer.topics.tape_life.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings", "tables"]
