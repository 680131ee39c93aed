"""Operators: where equal names hide other defaults, borders, and gradients at a kink."""

# The record has findings, tables and charts in the order in which these modules register them.
# isort: off
from explorer.topics.operators import findings_kinks
from explorer.topics.operators import findings_layers
from explorer.topics.operators import findings_defaults
# isort: on

from explorer.topics.operators import claims_layers, claims_shapes
from explorer.topics.operators.questions import TOPIC

__all__ = [
    "TOPIC",
    "claims_layers",
    "claims_shapes",
    "findings_defaults",
    "findings_kinks",
    "findings_layers",
]
