"""Higher orders: gradients of gradients in every engine, Hessians and Jacobians.

And where derivatives end.
"""

# The record has the findings in the order in which these modules are imported.
from explorer.topics.higher_order import claims, findings_nested, findings_operators
from explorer.topics.higher_order.questions import TOPIC

__all__ = ["TOPIC", "claims", "findings_nested", "findings_operators"]
