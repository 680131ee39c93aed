"""Pairs of nets of the packages mindcv, torchvision and timm, and mistakes to plant in some of them."""

import msgspec


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One architecture in two packages, on images of ``size`` × ``size``.

    ``mindspore`` and ``torch`` are "module:function", ``options`` the arguments of PyTorch's beside
    the number of classes. Where the nets really differ, ``differs`` are the parts of a sentence one
    of which names the op, in evaluation and in training; ``differs_in_training`` those in training
    alone. ``statement`` changes settings of PyTorch's net so that it is a right port.
    """

    name: str
    mindspore: str
    torch: str
    size: int = 32
    options: str = ""
    differs: tuple[str, ...] = ()
    differs_in_training: tuple[str, ...] = ()
    statement: str = ""


def _pair(
    name: str,
    torch: str,
    mindspore: str = "",
    size: int = 32,
    differs: tuple[str, ...] = (),
    differs_in_training: tuple[str, ...] = (),
) -> Pair:
    return Pair(
        name=name,
        mindspore=f"mindcv.models:{mindspore or name}",
        torch=torch if ":" in torch else f"{torch}.models:{name}",
        size=size,
        differs=differs,
        differs_in_training=differs_in_training,
    )


def _batch_norms(eps: float, momentum: float) -> str:
    """The statement that gives all batch norms of a net other settings."""
    return (
        "for module in net.modules():\n"
        '        if hasattr(module, "running_var"):\n'
        f"            module.eps, module.momentum = {eps}, {momentum}"
    )


NORM = ("BatchNorm", "batch_norm")

POOL = ("MaxPool",)
"""mindcv's residual nets pad the first pooling at the end alone."""

PAIRS = (
    _pair("resnet18", "torchvision", differs=POOL),
    _pair("mobilenet_v2", "torchvision", "mobilenet_v2_100"),
    _pair("mobilenet_v3_small", "torchvision", "mobilenet_v3_small_100", differs=NORM),
    _pair("squeezenet1_1", "torchvision", differs=("(features.0, torch",)),
    _pair("mnasnet_050", "torchvision.models:mnasnet0_5", differs=NORM),
    _pair("ghostnet_050", "timm"),
    _pair(
        "efficientnet_b0",
        "torchvision",
        differs=("conv", "Conv2D"),
        differs_in_training=("stochastic_depth", "drop"),
    ),
    _pair("regnet_y_400mf", "torchvision"),
    _pair("repvgg_a0", "timm"),
    _pair("mixnet_s", "timm", differs=("silu",)),
    _pair("densenet121", "torchvision"),
    _pair("mobilenet_v3_large", "torchvision", "mobilenet_v3_large_100", differs=NORM),
    _pair("squeezenet1_0", "torchvision", size=64, differs=POOL),
    _pair("mnasnet_075", "torchvision.models:mnasnet0_75", differs=NORM),
    _pair("skresnet18", "timm", differs=POOL),
    _pair("seresnet18", "timm", differs=POOL),
    _pair("res2net50", "timm.models:res2net50_26w_4s"),
    _pair("resnext50", "torchvision.models:resnext50_32x4d", "resnext50_32x4d", differs=POOL),
    _pair("resnet50", "torchvision", size=64, differs=POOL),
    _pair("xception", "timm.models:legacy_xception", size=64, differs=POOL),
    _pair("inception_v3", "torchvision", size=96, differs=("AvgPool",)),
    _pair("inception_v4", "timm", size=96),
    _pair("resnest50", "timm.models:resnest50d", differs=POOL),
    _pair("convnext_tiny", "timm", differs=("gelu", "GeLU")),
    _pair("regnet_x_400mf", "torchvision", differs=("widths differ from stages.3",)),
    _pair("poolformer_s12", "timm", differs=("`GroupNorm` (norm,",)),
)
"""Those that take least first."""

ALIKE = {
    "mnasnet_050": _batch_norms(1e-3, 0.01),
    "mnasnet_075": _batch_norms(1e-3, 0.01),
}
"""What makes right ports of pairs that differ in settings."""


def right_port(pair: Pair) -> Pair:
    """A pair whose settings are made alike."""
    return msgspec.structs.replace(
        pair,
        name=f"{pair.name}-alike",
        differs=(),
        differs_in_training=(),
        statement=ALIKE[pair.name],
    )


class Mistake(msgspec.Struct, frozen=True):
    """A setting of one module of PyTorch's net, changed after its construction.

    ``statement`` changes ``net``; ``module`` is the path of the module.
    """

    pair: str
    module: str
    statement: str


LEAKY = "__import__('torch').nn.LeakyReLU(0.1)"

MISTAKES = (
    Mistake("mobilenet_v2", "features.3.conv.1.2", f"net.features[3].conv[1][2] = {LEAKY}"),
    Mistake("mobilenet_v2", "features.6.conv.3", "net.features[6].conv[3].eps = 1e-2"),
    Mistake("mobilenet_v2", "features.0.0", 'net.features[0][0].padding_mode = "circular"'),
    Mistake("mnasnet_075-alike", "layers.1", "net.layers[1].eps = 1e-1"),
    Mistake(
        "mnasnet_075-alike",
        "layers.8.0.layers.5",
        f"net.layers[8][0].layers[5] = {LEAKY}",
    ),
    Mistake(
        "mnasnet_075-alike",
        "layers.9.1.layers.3",
        'net.layers[9][1].layers[3].padding_mode = "circular"',
    ),
    Mistake("mnasnet_050-alike", "layers.4", "net.layers[4].eps = 1e-1"),
    Mistake(
        "mnasnet_050-alike",
        "layers.8.1.layers.3",
        'net.layers[8][1].layers[3].padding_mode = "reflect"',
    ),
    Mistake("mnasnet_050-alike", "layers.9.0.layers.5", f"net.layers[9][0].layers[5] = {LEAKY}"),
    Mistake("ghostnet_050", "bn1", "net.bn1.eps = 1e-1"),
    Mistake(
        "ghostnet_050",
        "blocks.1.0.conv_dw",
        'net.blocks[1][0].conv_dw.padding_mode = "circular"',
    ),
    Mistake(
        "ghostnet_050",
        "blocks.2.0.ghost1.primary_conv.2",
        f"net.blocks[2][0].ghost1.primary_conv[2] = {LEAKY}",
    ),
    Mistake("regnet_y_400mf", "stem.1", "net.stem[1].eps = 1e-3"),
    Mistake(
        "regnet_y_400mf",
        "trunk_output.block2.block2-0.f.se.scale_activation",
        "net.trunk_output.block2[0].f.se.scale_activation = __import__('torch').nn.Hardsigmoid()",
    ),
    Mistake(
        "regnet_y_400mf",
        "trunk_output.block3.block3-1.f.b.0",
        'net.trunk_output.block3[1].f.b[0].padding_mode = "circular"',
    ),
)
"""Three in each of five right ports."""
