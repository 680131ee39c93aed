"""How the arguments of two frameworks correspond, in words."""

from explorer.operators.records import Argument, Row
from explorer.operators.ways import COMPANIONS
from explorer.text.language import _, later

WAYS: dict[str, str] = {
    "one_minus": later("1 − the other's"),
    "root": later("PyTorch's is the root of MindSpore's"),
    "tanh": later("`True` is `'tanh'`, `False` is `'none'`"),
    "zero_is_none": later("`0` is `None`"),
    "stride": later("`None` of PyTorch's is the size of the kernel"),
    "pad_mode": later(
        "`'valid'` is 0, `'pad'` is the number in `padding`; `'same'` is `'same'` with a stride of 1,"
        " otherwise what makes the result ⌈size / stride⌉ long"
    ),
    "pool_pad_mode": later(
        "`'valid'` is 0, `'pad'` is the number in `padding`, `'same'` is what makes the result"
        " ⌈size / stride⌉ long"
    ),
    "mode_alone": later(
        "`'valid'` is 0, `'same'` is what makes the result ⌈size / stride⌉ long; MindSpore's has no"
        " other"
    ),
    "average_pad_mode": later(
        "`'valid'` is 0, `'pad'` is the number in `padding`; `'same'` has no counterpart"
    ),
    "average_mode_alone": later("`'valid'` is 0; `'same'` has no counterpart"),
    "transposed_pad_mode": later(
        "`'valid'` is 0, `'pad'` is the number in `padding`; `'same'` is half of (kernel − stride),"
        " where that is even"
    ),
    "of_pad_mode": later("together with `pad_mode`"),
    "operator_pad_mode": later(
        "`'valid'` is 0, `'pad'` is the number in `pad`, `'same'` is what makes the result"
        " ⌈size / stride⌉ long"
    ),
    "each_axis": later("one number for each axis"),
    "stride_of_each_axis": later(
        "one number for each axis; PyTorch's `()` is the size of the kernel"
    ),
    "of_weight": later("the weight's shape has it"),
    "single_axis": later("the same; MindSpore's may be a tuple of one"),
    "some_axes": later("MindSpore's `()` is PyTorch's `None`: all axes"),
    "reduction_number": later("`'none'` is 0, `'mean'` is 1, `'sum'` is 2"),
    "swap": later("the permutation that swaps `dim0` and `dim1`"),
    "of_swap": later("together with `dim0`"),
    "softmax_axis": later(
        "PyTorch's `None` is 0 for tensors with 0, 1 or 3 axes, otherwise 1; MindSpore's default is"
        " the last axis"
    ),
    "last_axis": later("MindSpore's `None` is the last axis"),
    "one_axis": later("PyTorch's `None` takes all elements, for which MindSpore has no value"),
    "counted_classes": later(
        "PyTorch's −1 is one more than the greatest index; MindSpore needs the number"
    ),
    "none_is_false": later("`None` is `False`"),
    "every_axis": later("MindSpore's `None` is PyTorch's `()`: all axes"),
    "normalized_shape": later("the same, where both axes are those at which that shape begins"),
    "of_normalized_shape": later("minus the length of `normalized_shape`"),
    "begins_at": later("the sizes of the input from that axis on"),
    "of_begins_at": later("the same as `begin_norm_axis`"),
    "dropped": later("the same; where `None`, 1 − `keep_prob`"),
    "of_dropped": later("together with `p`"),
    "radius": later("PyTorch's is 2 · radius + 1"),
    "alpha_of_radius": later("PyTorch's is `size` times as large: it takes the mean of the window"),
}
"""The transformations of values that are not the same on both sides."""

FACTS: dict[str, str] = {
    "unbiased_is_correction": later("PyTorch's `unbiased=True` is `correction=1`."),
    "same_pads_after": later(
        "Where `pad_mode='same'` adds an odd number, one more is added after than before, as PyTorch's"
        " `padding='same'` does. With a stride above 1, pad the input first with"
        " `torch.nn.functional.pad`."
    ),
    "same_pools_after": later(
        "Where `pad_mode='same'` adds an odd number, one more is added after than before. Pad the input"
        " first with `torch.nn.functional.pad` and `value=float('-inf')`."
    ),
    "padding_idx_initial": later(
        "MindSpore's `padding_idx` sets the initial row to 0 and trains it; PyTorch gives that row no"
        " gradient."
    ),
    "gates_alike": later("The gates of the weights have the same order on both sides."),
    "probabilities_called_logits": later(
        "What MindSpore's documentation calls logits are probabilities."
    ),
    "dense_labels": later(
        "With `sparse=False`, as here, the labels are probabilities of the classes; MindSpore's"
        " gradient is right only where they sum to 1. With `sparse=True` they are indices."
    ),
    "selu_gradient": later(
        "The values agree; MindSpore 2.10's gradient is wrong for negative numbers."
    ),
    "target_without_gradient": later("MindSpore gives the target a gradient of 0."),
    "norm_below_epsilon": later(
        "The values agree; MindSpore 2.10's gradient is wrong where a norm is below the limit."
    ),
    "clamped_variance": later(
        "Where a variance is below `eps`, MindSpore gives it no gradient; PyTorch does."
    ),
    "first_size": later(
        "Differentiated with respect to logits and labels, MindSpore 2.10 (PyNative) divides the mean"
        " by the number of elements of the first call."
    ),
}
"""What the arguments do not show."""

INITIAL = later("initial values")
DEPRECATED = later("deprecated: `reduction` says it")
UNTRANSLATED = later("on both sides, but not checked")

UNMATCHED: dict[str, str] = {
    "weight_init": INITIAL,
    "bias_init": INITIAL,
    "gamma_init": INITIAL,
    "beta_init": INITIAL,
    "moving_mean_init": INITIAL,
    "moving_var_init": INITIAL,
    "embedding_table": INITIAL,
    "_weight": INITIAL,
    "_freeze": later("whether the weights are trained"),
    "device": later("where the weights are"),
    "dtype": later("the type of weights or results"),
    "size_average": DEPRECATED,
    "reduce": DEPRECATED,
    "min_value": later("deprecated: `min_val`"),
    "max_value": later("deprecated: `max_val`"),
    "_stacklevel": later("for a warning"),
    "data_format": later("the order of the axes; channels come first by default"),
    "Seed0": later("the seed of random numbers"),
    "Seed1": later("the seed of random numbers"),
    "seed": later("the seed of random numbers"),
    "norm_region": later("MindSpore knows one value"),
    "norm_type": later("the norm for `max_norm`"),
    "output_size": later("saves PyTorch a look at the numbers"),
    "eps": later("MindSpore's is the least product of the norms, PyTorch's the least of each norm"),
    "out": later("where PyTorch writes the result"),
    "stable": later("the order of equal elements"),
    "padding_idx": later("the row without a gradient; MindSpore's function has none"),
    "sparse": later("whether labels are indices; here probabilities"),
    "weight": UNTRANSLATED,
    "pos_weight": UNTRANSLATED,
}
"""What arguments do that the table does not translate."""


def translation_text(argument: Argument) -> str:
    """How the values correspond, and where; empty where they are the same."""
    text = _(WAYS.get(argument.way(), "")) or lacking(argument)
    if not argument.only_if or argument.way() in COMPANIONS:
        return text
    name, value = argument.only_if
    where = _("checked where {setting}").format(setting=f"`{name}={value!r}`")
    return _("{text}; {place}").format(text=text, place=where) if text else where


def lacking(argument: Argument) -> str:
    """What a side that lacks the argument acts as; empty where both have it, or where it is unknown."""
    here, there = argument.name("mindspore"), argument.name("torch")
    acts_as = argument.default("torch" if here else "mindspore")
    if (here and there) or argument.way() != "same":
        return ""
    text = _("MindSpore has no such argument: as with {value}")
    if here:
        text = _("PyTorch has no such argument: as with {value}")
    return text.format(value=f"`{acts_as!r}`")


def facts(row: Row) -> list[str]:
    """What the arguments of a row do not show."""
    return [_(FACTS[fact]) for fact in row.facts]


def unmatched(row: Row) -> list[tuple[str, str]]:
    """The arguments that are not translated, and what they do."""
    return [(name, _(UNMATCHED[name])) for name in row.unmatched]


def compared(row: Row) -> str:
    """What was compared where the row was checked."""
    texts = {
        "gradients": _("values and gradients"),
        "values": _("values"),
        "sets": _("the set of values: masks are random"),
    }
    return texts[row.compared]
