"""How a distributed step compares with the step of one process, in sentences."""

from collections.abc import Iterator, Sequence

from explorer.model.ranks import OverRanks, RankRelation, TensorKind
from explorer.text.language import _, later, named

KINDS: dict[TensorKind, str] = {
    "start": later("start"),
    "data": later("data"),
    "loss": later("loss"),
    "gradient": later("gradients"),
}
"""The kinds of tensors, in the order in which they are compared."""

RELATIONS: dict[RankRelation, str] = {
    "each": later("every rank has {whole}'s"),
    "mean": later("{whole}'s is the mean of the ranks'"),
    "sum": later("{whole}'s is the sum of the ranks'"),
    "joined": later("{whole} has the ranks' rows in their order"),
    "shuffled": later("{whole} has the ranks' rows in another order"),
    "scaled": later("{whole}'s is {factor} times the mean of the ranks'"),
    "unlike": later("{whole}'s is neither the same on every rank nor their mean or sum"),
    "unknown": later("not recorded whole on every rank"),
}

UNLIKE_DATA = later("{whole} has other rows than the ranks together")
SAME_DATA = later("every rank has all of {whole}'s rows: the data is not divided")


def rank_lines(compared: Sequence[OverRanks], ranks: int, whole: str) -> Iterator[str]:
    """What each kind of tensor has to do with those of the ranks, and the first that is not right."""
    yield _("{n} ranks beside {whole}:").format(n=ranks, whole=whole)
    for kind, title in KINDS.items():
        tensors = [tensor for tensor in compared if tensor.kind == kind]
        for relation in dict.fromkeys(tensor.relation for tensor in tensors):
            names = [tensor.name for tensor in tensors if tensor.relation == relation]
            line = _("  {kind}: {names}: {relation}")
            said = _relation(next(one for one in tensors if one.relation == relation), whole)
            yield line.format(kind=_(title), names=named(names), relation=said)
    wrong = first_wrong(compared)
    if wrong is None:
        yield _("The ranks together compute what {whole} computes.").format(whole=whole)
    else:
        text = _("First difference: {kind} {name}: {relation}")
        yield text.format(
            kind=_(KINDS[wrong.kind]), name=wrong.name, relation=_relation(wrong, whole)
        )


def first_wrong(compared: Sequence[OverRanks]) -> OverRanks | None:
    """The first tensor that is not as one process has it: in the start, the data, the loss, the gradients."""
    order = list(KINDS)
    wrong = [tensor for tensor in compared if tensor.is_right is False]
    return min(wrong, key=lambda tensor: order.index(tensor.kind), default=None)


def _relation(tensor: OverRanks, whole: str) -> str:
    text = RELATIONS[tensor.relation]
    if tensor.kind == "data":
        text = {"each": SAME_DATA, "unlike": UNLIKE_DATA}.get(tensor.relation, text)
    said = _(text).format(whole=whole, factor=f"{tensor.factor:.4g}")
    if tensor.relation == "unlike" and tensor.greatest:
        said += _(" (greatest difference {value})").format(value=f"{tensor.greatest:.3g}")
    return said
