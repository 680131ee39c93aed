"""The life of the tape: what each engine records, keeps and frees.

And what it does when asked for a gradient twice.
"""

from explorer.topics.tape_life import (
    charts,
    claims_gradients,
    claims_recording,
    claims_results,
    findings,
    tables,
)
from explorer.topics.tape_life.questions import TOPIC

__all__ = [
    "TOPIC",
    "charts",
    "claims_gradients",
    "claims_recording",
    "claims_results",
    "findings",
    "tables",
]
