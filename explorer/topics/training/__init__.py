"""Training steps: every route of the guides, optimizers, groups, clipping and accumulation.

Weights are compared step by step.
"""

# The record has findings, tables and charts in the order in which these modules register them.
# isort: off
from explorer.topics.training import findings_routes
from explorer.topics.training import findings_optimizers
from explorer.topics.training import findings_steps
# isort: on

from explorer.topics.training import claims_listings, claims_optimizers, claims_steps
from explorer.topics.training.questions import TOPIC

__all__ = [
    "TOPIC",
    "claims_counterparts",
    "claims_listings",
    "claims_optimizers",
    "claims_steps",
    "findings_optimizers",
    "findings_routes",
    "findings_steps",
]
