"""Pairs of nets of the packages mindcv, torchvision, timm and transformers, and mistakes to plant in some."""

from typing import Literal, Protocol

import msgspec

Mode = Literal["evaluation", "training"]

BOTH: tuple[Mode, ...] = ("evaluation", "training")

CLASSES = 10
LEAST_IN_TRAINING = 64
"""The least size of an image in training: batch norms of two elements multiply rounding."""

SCENARIO = '''"""{title}."""

import numpy as np

TRAIN = {train}


def inputs():
    generator = np.random.default_rng(0)
    return {{"x": generator.standard_normal((2, 3, {size}, {size})).astype(np.float32)}}


def mindspore_net():
    from {mindspore_module} import {mindspore_function} as given

    return given(num_classes={classes})


def torch_net():
    import sys
    import types

    # Its wheel is of another build of PyTorch, whose operators on images are not needed here.
    name = "torchvision._meta_registrations"
    sys.modules.setdefault(name, types.ModuleType(name))
    from {torch_module} import {torch_function} as given

    net = given(num_classes={classes}{options})
    {alike}
    {mistake}
    return net
'''


class Mistake(msgspec.Struct, frozen=True):
    """A setting of one module of PyTorch's net, changed after its construction.

    ``statement`` changes ``net``; ``module`` is the path of the module.
    """

    pair: str
    module: str
    statement: str


class AnyPair(Protocol):
    """One architecture in two packages, and what is known to differ."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def differs(self) -> tuple[str, ...]:
        """See Pair."""

    @property
    def differs_in_training(self) -> tuple[str, ...]:
        """See Pair."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes in which its nets are compared."""

    def scenario(self, trains: bool, mistake: Mistake | None) -> str:
        """The text of a scenario of both nets."""


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
    modes: tuple[Mode, ...] = BOTH

    def scenario(self, trains: bool, mistake: Mistake | None) -> str:
        """The text of a scenario of both nets."""
        mindspore_module, _, mindspore_function = self.mindspore.partition(":")
        torch_module, _, torch_function = self.torch.partition(":")
        return SCENARIO.format(
            title=f"{self.mindspore} beside {self.torch}",
            train=trains,
            size=max(self.size, LEAST_IN_TRAINING) if trains else self.size,
            classes=CLASSES,
            mindspore_module=mindspore_module,
            mindspore_function=mindspore_function,
            torch_module=torch_module,
            torch_function=torch_function,
            options=f", {self.options}" if self.options else "",
            alike=self.statement,
            mistake=mistake.statement if mistake else "",
        )


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

# Flax's models of transformers

OF_TRANSFORMERS = '''"""{flax} beside {torch}."""

import numpy as np

TRAIN = False


def inputs():
    generator = np.random.default_rng(0)
    return {{"x": {x}}}


def _config():
    import transformers

    return transformers.{config}


def torch_net():
    import sys
    import types

    # Its wheel is of another build of PyTorch, whose operators on images are not needed here.
    name = "torchvision._meta_registrations"
    sys.modules.setdefault(name, types.ModuleType(name))
    import torch
    from transformers import {torch}

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = {torch}(_config())

        def forward(self, x):
            return self.model(x{as_torch})[0]

    return Net()


def jax_net():
    import jax.numpy as jnp
    from flax import linen as nn
    from transformers.models.{module} import {flax}

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, deterministic=True):
            model = {flax}(_config(), name="model")
            return model({as_flax}, deterministic=deterministic)[0]

    return Net()
'''

WORDS = "generator.integers(0, 60, (2, 7)).astype(np.int32)"
IMAGES = "generator.standard_normal((2, 3, 16, 16)).astype(np.float32)"
PLACES = "jnp.broadcast_to(jnp.arange(x.shape[1]), x.shape)"


class OfTransformers(msgspec.Struct, frozen=True, kw_only=True):
    """One architecture of transformers, tiny and random: its class in PyTorch, and its module in flax.

    ``as_flax`` are the arguments of the module that is given what PyTorch's class takes as ``x``.
    """

    name: str
    config: str
    torch: str
    flax: str
    x: str = WORDS
    as_flax: str = "x, jnp.ones_like(x)"
    differs: tuple[str, ...] = ()
    differs_in_training: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ("evaluation",)

    def scenario(self, trains: bool, mistake: Mistake | None) -> str:
        """The text of a scenario of both nets, in evaluation; ValueError where it is to have a mistake."""
        if mistake:
            raise ValueError(f"{self.name} has no mistakes")
        module = f"{self.name}.modeling_flax_{self.name}"
        return OF_TRANSFORMERS.format(
            flax=self.flax,
            torch=self.torch,
            x=self.x,
            config=self.config,
            module=module,
            as_torch=".long()" if self.x == WORDS else "",
            as_flax=self.as_flax,
        )


TRANSFORMERS = (
    OfTransformers(
        name="bert",
        config="BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,"
        " intermediate_size=32, max_position_embeddings=16)",
        torch="BertModel",
        flax="FlaxBertModule",
        as_flax=f"x, jnp.ones_like(x), jnp.zeros_like(x), {PLACES}",
    ),
    OfTransformers(
        name="gpt2",
        config="GPT2Config(vocab_size=60, n_positions=16, n_embd=16, n_layer=2, n_head=2)",
        torch="GPT2Model",
        flax="FlaxGPT2Module",
        as_flax=f"x, jnp.ones_like(x), {PLACES}",
    ),
    OfTransformers(
        name="llama",
        config="LlamaConfig(vocab_size=60, hidden_size=16, intermediate_size=32, num_hidden_layers=2,"
        " num_attention_heads=2, max_position_embeddings=16)",
        torch="LlamaModel",
        flax="FlaxLlamaModule",
        as_flax=f"x, jnp.ones_like(x), {PLACES}",
    ),
    OfTransformers(
        name="t5",
        config="T5Config(vocab_size=60, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2)",
        torch="T5EncoderModel",
        flax="FlaxT5EncoderModule",
    ),
    OfTransformers(
        name="vit",
        config="ViTConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2,"
        " intermediate_size=32, image_size=16, patch_size=4)",
        torch="ViTModel",
        flax="FlaxViTModule",
        x=IMAGES,
        as_flax="x.transpose(0, 2, 3, 1)",
    ),
    OfTransformers(
        name="resnet",
        config='ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")',
        torch="ResNetModel",
        flax="FlaxResNetModule",
        x=IMAGES,
        as_flax="x.transpose(0, 2, 3, 1)",
    ),
)
"""Six that are in both frameworks, with a few layers each."""
