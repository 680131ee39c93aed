"""Claims about operators and inference: rows 40 to 51, where one name hides other settings, and
whether gradients agree.
"""

from explorer.topics.operators import (
    claims_initial as operators_initial,
)
from explorer.topics.operators import (
    claims_layers as operators_layers,
)
from explorer.topics.operators import (
    claims_outputs as operators_outputs,
)
from explorer.topics.operators import (
    claims_padding as operators_padding,
)
from explorer.topics.topic import Claim

CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        (
            *operators_outputs.CLAIMS,
            *operators_layers.CLAIMS,
            *operators_padding.CLAIMS,
            *operators_initial.CLAIMS,
        ),
        key=lambda claim: claim.id,
    )
)
