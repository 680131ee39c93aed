"""The stages of a gradient graph: what MindSpore's compiler makes of it, pass by pass.

Beside it, what a tape records.
"""

from explorer.topics.stages import claims, findings
from explorer.topics.stages.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings"]
