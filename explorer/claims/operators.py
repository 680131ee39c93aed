"""Claims about operators and inference: rows 40 to 51, where one name hides other settings, and whether gradients agree."""

from explorer.claims import operators_initial, operators_layers, operators_outputs, operators_padding
from explorer.claims.records import Claim

CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        (*operators_outputs.CLAIMS, *operators_layers.CLAIMS, *operators_padding.CLAIMS, *operators_initial.CLAIMS),
        key=lambda claim: claim.id,
    )
)
