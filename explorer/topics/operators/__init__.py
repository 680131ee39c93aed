"""Operators: where equal names hide other defaults, borders, and gradients at a kink."""

# The record has findings, tables and charts in the order in which these modules register them.
# isort: off
from explorer.topics.operators import findings_kinks
from explorer.topics.operators import findings_layers
from explorer.topics.operators import findings_shapes
from explorer.topics.operators import findings_defaults
from explorer.topics.operators import findings_agreement
# isort: on

from explorer.topics.operators import (
    claims_agreement,
    claims_ascend,
    claims_layers,
    claims_shapes,
    claims_weights,
)
from explorer.topics.operators.questions import TOPIC

__all__ = [
    "TOPIC",
    "claims_agreement",
    "claims_ascend",
    "claims_layers",
    "claims_shapes",
    "claims_weights",
    "findings_agreement",
    "findings_defaults",
    "findings_kinks",
    "findings_layers",
    "findings_shapes",
]
