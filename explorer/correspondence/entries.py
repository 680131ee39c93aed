"""Short forms in which the tables write operands and arguments."""

from explorer.correspondence.records import UNKNOWN, Argument, Default, Drawn, Operand, Value

F = "torch.nn.functional."
MINT_F = "mint.nn.functional."


def tensor(
    names: str = "input",
    shape: str = "n c h",
    drawn: Drawn = "normal",
    below: int = 0,
    count: int = 0,
    is_optional: bool = False,
) -> Operand:
    """An operand by its name, or by both names: "MindSpore's torch's"."""
    here, _blank, there = names.partition(" ")
    return Operand(here, there or here, shape, drawn, below, count, is_optional)


def weights(names: str, shape: str) -> Operand:
    """A tensor that may be left out."""
    return tensor(names, shape, is_optional=True)


def both(name: str, default: Default, *values: Value) -> Argument:
    """An argument that is the same on both sides."""
    return Argument(name, name, default, default, values=values)


def pair(
    names: str,
    here: Default,
    there: Default,
    *values: Value,
    way: str = "same",
    only_if: tuple[str, Value] | None = None,
) -> Argument:
    """An argument by both names, "MindSpore's torch's" or the one of both, and both defaults."""
    mindspore, _blank, torch = names.partition(" ")
    return Argument(mindspore, torch or mindspore, here, there, way, values, only_if)


def only_mindspore(name: str, default: Default, acts_as: Default = UNKNOWN) -> Argument:
    """An argument that PyTorch lacks, whose callable acts as if it had a value."""
    return Argument(name, "", default, acts_as)


def only_torch(name: str, default: Default, acts_as: Default = UNKNOWN) -> Argument:
    """An argument that MindSpore lacks, whose callable acts as if it had a value."""
    return Argument("", name, acts_as, default)


def companion(name: str, default: Default, way: str, *values: Value) -> Argument:
    """An argument of MindSpore's that the way of another one takes along."""
    return Argument(name, "", default, UNKNOWN, way, values)


REDUCTION = both("reduction", "mean", "mean", "sum", "none")
INPLACE = only_torch("inplace", False, False)
KEEPDIM = pair("keepdims keepdim", False, False, True, False)

DEPRECATED = ("size_average", "reduce")
"""What PyTorch's losses still accept beside ``reduction``."""

PLACE = ("device", "dtype")
"""Where and with which type PyTorch makes the weights of a layer."""
