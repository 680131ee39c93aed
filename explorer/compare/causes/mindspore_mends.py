"""What to write in either net for a cause that was found at an op of MindSpore's."""

import msgspec

from explorer.compare.causes.translations import is_same, shorter, tied_names, translated
from explorer.correspondence.records import Row
from explorer.correspondence.table import layer_of, names
from explorer.model.causes import Cause, Mend
from explorer.model.graph import OTHER, Arguments, Layer, Node

USER_NAMES = {"unbiased": "ddof"}
"""Switches of operators for which a function that a user calls has a number, 1 for True."""

SETTLED: dict[str, Arguments] = {
    "GeLU": {"approximate": "tanh"},
    "ops.gelu": {"approximate": "none"},
}
"""The arguments with which the function that a user calls becomes an operator, or a row of them."""

SETTLED_LAYERS: dict[tuple[str, str], Arguments] = {("nn.GELU", "ops.gelu"): {"approximate": False}}
"""The settings with which a layer of MindSpore's becomes another operator than it is."""


def mends_of_mindspore(cause: Cause, node: Node) -> tuple[Mend, ...]:
    """What to write on either side, MindSpore's first; () where the table does not say it.

    ``node`` is the op of MindSpore's that was tried.
    """
    if cause.other_op:
        return _of_operator(cause)
    rows = _rows(cause, node)
    own = _as_torch(rows, cause.own)
    wanted = _as_torch(rows, cause.arguments)
    changed = {name: value for name, value in wanted.items() if not is_same(value, own.get(name))}
    both = _here(cause, changed), _there(cause, {name: own[name] for name in changed})
    return tuple(mend for mend in both if mend is not None)


def _rows(cause: Cause, node: Node) -> list[Row]:
    """The rows of an op, that of operators first, and that of the layer in which it runs."""
    rows = [*names().get(f"ops.{node.op}", ()), *names().get(node.op, ())]
    layer, _ = _layers(cause)
    of_layer = layer_of("mindspore", layer.name) if layer else None
    return rows + ([of_layer] if of_layer else [])


def _layers(cause: Cause) -> tuple[Layer | None, Layer | None]:
    """The layer of MindSpore's op, and that of PyTorch's."""
    left, right = cause.layers
    return (left, right) if cause.side == "left" else (right, left)


def _as_torch(rows: list[Row], given: Arguments) -> Arguments:
    """Arguments of an op by the names of PyTorch's function or operator; {} of what has none there."""
    given = dict(given)
    for name, users in USER_NAMES.items():
        if name in given:
            given[users] = int(bool(given.pop(name)))
    for row in rows:
        tied = tuple(argument for argument in row.arguments if argument.mindspore in given)
        found = translated(msgspec.structs.replace(row, arguments=tied), "mindspore", given)
        if found:
            return dict(found)
    return {}


def _here(cause: Cause, changed: Arguments) -> Mend | None:
    """MindSpore's layer or function with the arguments with which it does what PyTorch's net does."""
    layer, _ = _layers(cause)
    row = layer_of("mindspore", layer.name) if layer else None
    function = _function(cause.op)
    if layer is not None and row is not None:
        call, settings = layer.name, layer.settings
    elif function is not None:
        row, call, settings = function, function.mindspore, {}
    else:
        return None
    tied = tuple(argument for argument in row.arguments if argument.torch in changed)
    wanted = translated(msgspec.structs.replace(row, arguments=tied), "torch", changed)
    arguments = {}
    for name in tied_names(row, "mindspore", changed):
        if name in wanted and (name not in settings or not is_same(wanted[name], settings[name])):
            arguments[name] = shorter(wanted[name])
    return Mend(side=cause.side, call=call, arguments=arguments) if arguments else None


def _there(cause: Cause, back: Arguments) -> Mend | None:
    """PyTorch's layer or function with the arguments with which it does what MindSpore's op does."""
    layer, other = _layers(cause)
    row, call = _function(cause.op), ""
    if layer is not None and other is not None:
        of_both = layer_of("mindspore", layer.name)
        if of_both is not None and of_both == layer_of("torch", other.name):
            row, call = of_both, other.name
    known = {argument.torch for argument in row.arguments} if row else set()
    if row is None or not back or not back.keys() <= known:
        return None
    arguments = {name: shorter(value) for name, value in back.items()}
    return Mend(side=OTHER[cause.side], call=call or row.torch, arguments=arguments)


def _of_operator(cause: Cause) -> tuple[Mend, ...]:
    """The layer or function of either side that does what the other side's op does."""
    other, own = _function(cause.other_op), _function(cause.op)
    if other is None or own is None:
        return ()
    layer, _ = _layers(cause)
    of_layer = SETTLED_LAYERS.get((layer.name, cause.other_op)) if layer else None
    here = Mend(
        side=cause.side,
        call=layer.name if layer and of_layer else other.mindspore,
        arguments=of_layer or SETTLED.get(cause.other_op, {}),
    )
    there = Mend(side=OTHER[cause.side], call=own.torch, arguments=SETTLED.get(cause.op, {}))
    return here, there


def _function(op: str) -> Row | None:
    """The row of the function that a user calls for an operator of MindSpore's graphs."""
    for row in names().get(op, ()):
        if row.kind == "function" and row.torch.startswith("torch."):
            return row
    return None
