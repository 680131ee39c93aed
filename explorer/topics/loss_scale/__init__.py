"""Loss scaling: what underflows and overflows in each float, and how each framework's scaler lives."""

# The record has the findings in the order in which these modules are imported.
from explorer.topics.loss_scale import (
    claims,
    findings_gradients,
    findings_scalers,
    findings_unscaling,
)
from explorer.topics.loss_scale.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings_gradients", "findings_scalers", "findings_unscaling"]
