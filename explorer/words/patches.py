"""What was seen of a net with a patch, in a sentence."""

from explorer.model.patch import Proof
from explorer.text.language import _, named


def proof_text(proof: Proof) -> str:
    """What a copy of the net gave with the patch."""
    text = _(
        "a copy with this patch: {matching} of {cases} cases match in {engines}; no divergence"
    )
    return text.format(
        matching=proof.matching, cases=proof.cases, engines=named(list(proof.engines))
    )
