"""The stages of a gradient graph: what MindSpore's compiler makes of it pass by pass, beside what a
tape records.
"""

from explorer.topics.stages import charts, claims, findings, tables
from explorer.topics.stages.questions import TOPIC

__all__ = ["TOPIC", "charts", "claims", "findings", "tables"]
