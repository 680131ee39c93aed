"""Arguments of operators and settings of layers, written as a user of the framework writes them."""

from explorer.model.graph import Arguments, ArgumentValue, Layer
from explorer.operators.families import family
from explorer.operators.values import alike, shortest
from explorer.text.clean import clean

MOST_ITEMS = 8
"""Elements of a longer sequence than this are left out, but for the first ones."""

LONGEST = 60
"""The greatest number of characters of a text that is shown."""

FEW = 3
"""The number of arguments in a short form."""


def value_text(name: str, value: ArgumentValue) -> str:
    """The value of an argument as source code: ``(2, 2)``, ``'none'``; a dtype without quotes."""
    if isinstance(value, tuple):
        items = [value_text(name, item) for item in value[:MOST_ITEMS]]
        if len(value) > MOST_ITEMS:
            items.append("…")
        comma = "," if len(items) == 1 else ""
        return f"({', '.join(items)}{comma})"
    if isinstance(value, str):
        text = value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
        return clean(text) if name.endswith("type") else clean(repr(text))
    if isinstance(value, float):
        return shortest(value)
    return str(value)


def argument_text(name: str, value: ArgumentValue) -> str:
    """An argument as it is written in a call: ``eps=1e-05``."""
    return f"{clean(name)}={value_text(name, value)}"


def arguments_text(arguments: Arguments) -> str:
    """Arguments as they are written in a call: ``dim=-1, keepdim=False``."""
    return ", ".join(argument_text(name, value) for name, value in arguments.items())


def layer_text(layer: Layer) -> str:
    """A layer as it is made: ``nn.BatchNorm2d(momentum=0.9, eps=0.001)``."""
    return f"{clean(layer.name)}({arguments_text(layer.settings)})"


# The short form

IMPORTANT: dict[str, str] = {
    "conv": "stride pad_mode padding pad",
    "maxpool avgpool": "kernel_size stride strides pad_mode padding pad count_include_pad",
    "batchnorm": "eps epsilon momentum training is_training train",
    "layernorm rmsnorm instancenorm": "eps epsilon normalized_shape begin_norm_axis",
    "groupnorm": "eps num_groups group",
    "softmax logsoftmax": "dim axis",
    "gelu": "approximate",
    "elu celu leakyrelu softplus": "alpha negative_slope beta threshold",
    "sum mean max amin prod var std varmean argmax cumsum": "dim axis correction unbiased reverse",
    "crossentropy mseloss smoothl1loss l1loss huberloss kldiv binarycrossentropy": (
        "reduction ignore_index label_smoothing beta delta"
    ),
    "dropout": "p keep_prob",
    "embedding": "dim axis padding_idx scale_grad_by_freq",
    "transpose": "dims perm input_perm dim0 dim1",
}
"""The arguments that matter most, by families of operators; those of their gradients too."""

_IMPORTANT = {kind: names.split() for kinds, names in IMPORTANT.items() for kind in kinds.split()}

PLAIN: dict[str, ArgumentValue] = {
    "axis": (),
    "data_format": "NCHW",
    "dilation": 1,
    "dim": (),
    "group": 1,
    "groups": 1,
    "keep_dims": False,
    "keepdim": False,
    "output_padding": 0,
}
"""Values that say no more than that an argument is not used."""

NEUTRAL = {"alpha": 1, "beta": 1}
"""Factors of a sum that leave it as it is; they are settings of some activations."""

INTERNAL = frozenset(
    {
        "bias_sizes", "format", "half_to_float", "implicit", "input_dtype", "mode", "out_channel",
        "output_mask", "pad_list",
    }
)  # fmt: skip
"""Arguments that only the framework itself gives."""


def main_arguments(op: str, arguments: Arguments) -> Arguments:
    """The few arguments of an operator that matter most; those without effect are left out."""
    important = _IMPORTANT.get(family(op).removesuffix("grad"), [])
    names = [name for name in important if name in arguments]
    names += [name for name in arguments if name not in important]
    chosen: Arguments = {}
    for name in names:
        if len(chosen) < FEW and _matters(name, arguments[name], name in important):
            chosen[name] = arguments[name]
    return chosen


def _matters(name: str, value: ArgumentValue, is_important: bool) -> bool:
    if value is None or name in INTERNAL:
        return False
    if name in PLAIN and PLAIN[name] in (value, alike(value)):
        return False
    if is_important:
        return True
    return value is not False and not (name in NEUTRAL and value == NEUTRAL[name])


def call_text(op: str, arguments: Arguments) -> str:
    """An operator with the arguments that matter most: ``aten.gelu.default(approximate='none')``."""
    main = main_arguments(op, arguments)
    return f"{op}({arguments_text(main)})" if main else op
