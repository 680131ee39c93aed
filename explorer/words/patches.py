"""What was seen of a net with a patch, in a sentence; or that there is none."""

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


def without_patch(line: str, *, is_same: bool) -> tuple[str, ...]:
    """Behind the headline of a case: that nothing is to be mended, or that no patch was found."""
    if is_same:
        return (_("nothing to mend: {line}").format(line=line),)
    text = _("no patch was found that makes both nets equal; `diff` says where and why they differ")
    return (line, text)
