"""What to write in either net so that it does what the other one does, by the table of correspondences."""

from collections.abc import Callable, Iterator

from explorer.compare.causes.jax_mends import in_jax, mends_of_jax
from explorer.compare.causes.mindspore_mends import mends_of_mindspore
from explorer.compare.causes.translations import as_called, is_same, shorter, tied_names, translated
from explorer.correspondence.records import Row
from explorer.correspondence.table import layer_of, rows_named
from explorer.model.causes import Cause, InsertOperator, Mend, Rewire, Zeros
from explorer.model.engines import Framework, engine_named
from explorer.model.graph import OTHER, Arguments, Layer, Node, SideName

Frameworks = tuple[Framework, Framework]
"""Those of the two graphs, the left one first."""


def mends(cause: Cause, node: Node, engines: tuple[str, str]) -> tuple[Mend, ...]:
    """What to write on either side, the left one first, for the arguments of a cause.

    ``node`` is the op that was tried. () where the table does not say it.
    """
    frameworks = engine_named(engines[0]).framework, engine_named(engines[1]).framework
    if frameworks[0] == frameworks[1]:
        return ()
    return tuple(_in_words(_mends(cause, node, frameworks), frameworks))


OF_OPS: dict[Framework, Callable[[Cause, Node], tuple[Mend, ...]]] = {
    "mindspore": mends_of_mindspore,
    "jax": mends_of_jax,
}
"""What is to be written for a cause that was found at an op of a framework, other than PyTorch."""

IN_WORDS: dict[Framework, Callable[[Mend], Mend | None]] = {"jax": in_jax}
"""How frameworks that the table of correspondences does not have say what is written in PyTorch."""


def _in_words(found: tuple[Mend, ...], frameworks: Frameworks) -> Iterator[Mend]:
    """Mends in the words of each side's framework, as far as it has them."""
    sides: dict[SideName, Framework] = dict(zip(OTHER, frameworks, strict=True))
    for mend in found:
        said = IN_WORDS.get(sides[mend.side])
        in_words = said(mend) if said and mend.call.startswith("torch.") else mend
        if in_words is not None:
            yield in_words


def _mends(cause: Cause, node: Node, frameworks: Frameworks) -> tuple[Mend, ...]:
    if cause.form == "inputs":
        return _of_inputs(cause, frameworks)
    if cause.form not in ("arguments", "operator"):
        return ()
    ours = 0 if cause.side == "left" else 1
    of_own_op = OF_OPS.get(frameworks[ours])
    if of_own_op:
        return tuple(sorted(of_own_op(cause, node), key=lambda mend: mend.side))
    theirs = frameworks[1 - ours]
    if cause.other_op:
        return _of_operator(cause, theirs)
    left, right = cause.layers
    if left is not None and right is not None:
        both = (
            _of_layer(0, left, right, frameworks, cause.own),
            _of_layer(1, right, left, frameworks, cause.own),
        )
    else:
        there = _there if theirs == "mindspore" else _there_in_torch
        both = _of_function(ours, cause, node), there(1 - ours, cause, node)
    return tuple(mend for mend in both if mend is not None)


def _of_inputs(cause: Cause, frameworks: Frameworks) -> tuple[Mend, ...]:
    """The settings of a layer with which it pads as the other one does, or has a bias as that one."""
    left, right = cause.layers
    match cause.edits[0]:
        case InsertOperator(op="pad"):
            tried: Arguments = {"padding": 0}
        case Rewire(source=Zeros(is_filled=False)):
            tried = {"bias": True}
        case _:
            return ()
    if left is None or right is None:
        return ()
    both = (
        _of_layer(0, left, right, frameworks, tried),
        _of_layer(1, right, left, frameworks, tried),
    )
    return tuple(mend for mend in both if mend is not None)


def _of_layer(
    place: int, layer: Layer, other: Layer, frameworks: Frameworks, tried: Arguments
) -> Mend | None:
    """The settings of a layer with which it does what the other one does."""
    framework, there = frameworks[place], frameworks[1 - place]
    row = layer_of(framework, layer.name)
    if row is None or row.name(there).rpartition(".")[2] != other.name.rpartition(".")[2]:
        return None
    wanted = translated(row, there, other.settings)
    changed = {}
    for name in tied_names(row, framework, tried):
        if name in wanted and not is_same(wanted[name], layer.settings.get(name)):
            changed[name] = shorter(wanted[name])
    if not changed:
        return None
    return Mend(side="right" if place else "left", call=layer.name, arguments=changed)


def _of_function(place: int, cause: Cause, node: Node) -> Mend | None:
    """The arguments of PyTorch's function with which it does what the other side does."""
    row = _function(node.op)
    if row is None:
        return None
    names = {argument.torch for argument in row.arguments}
    changed = {name: value for name, value in cause.arguments.items() if name in names}
    if len(changed) < len(cause.arguments):
        return None
    return Mend(side="right" if place else "left", call=row.torch, arguments=changed)


def _there(place: int, cause: Cause, node: Node) -> Mend | None:
    """The arguments of MindSpore's function with which it does what PyTorch's op does."""
    row = _function(node.op)
    if row is None:
        return None
    wanted = translated(row, "torch", node.arguments)
    own = translated(row, "torch", {**node.arguments, **cause.arguments})
    names = tied_names(row, "mindspore", cause.own)
    changed = {name: wanted[name] for name in names if wanted.get(name) != own.get(name)}
    if not changed:
        return None
    return Mend(side="right" if place else "left", call=row.mindspore, arguments=changed)


def _there_in_torch(place: int, cause: Cause, node: Node) -> Mend | None:
    """The same in PyTorch's words, in which other frameworks say it."""
    row = _function(node.op)
    if row is None:
        return None
    own = as_called(row, "torch", cause.own)
    return Mend(side="right" if place else "left", call=row.torch, arguments=own)


def _of_operator(cause: Cause, theirs: Framework) -> tuple[Mend, ...]:
    """The function of either side that does what the other side's operator does."""
    other, own = _function(cause.other_op), _function(cause.op)
    if other is None or own is None:
        return ()
    both = [
        Mend(side=cause.side, call=other.torch, arguments={}),
        Mend(side=OTHER[cause.side], call=_call(own, theirs), arguments={}),
    ]
    return tuple(sorted(both, key=lambda mend: mend.side))


def _call(row: Row, framework: Framework) -> str:
    """What a framework calls a row: its own name, or PyTorch's, of which that is said in its words."""
    return row.mindspore if framework == "mindspore" else row.torch


def _function(op: str) -> Row | None:
    """The row of the function that a user calls for an operator of PyTorch's graphs."""
    # An overload goes by the name of its operator: "aten._softmax.default".
    for row in rows_named(".".join(op.split(".")[:2])):
        if row.torch.startswith("torch."):
            return row
    return None
