"""Loss scaling: what underflows and overflows in each float, and how scalers live."""

# The record has findings, tables and charts in the order in which these modules register them;
# the claims come after them, since they import one of them.
# isort: off
from explorer.topics.loss_scale import findings_gradients
from explorer.topics.loss_scale import findings_scalers
# isort: on

from explorer.topics.loss_scale import claims
from explorer.topics.loss_scale.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings_gradients", "findings_scalers"]
