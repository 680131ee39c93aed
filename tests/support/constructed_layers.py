"""Every layer of a framework that can be made with a few arguments, and what is read off it.

Run in a worker of that framework.
"""

import importlib
import inspect
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import msgspec

from explorer.engines.layer_settings import BY_POSITION
from explorer.engines.plain_values import plain
from explorer.model.graph import Layer
from tests.support.worker_targets import Word

UNUSUAL: dict[str, Any] = {
    "in_channels": 2,
    "out_channels": 4,
    "in_features": 3,
    "out_features": 5,
    "num_features": 4,
    "num_channels": 4,
    "num_groups": 2,
    "num_embeddings": 7,
    "embedding_dim": 3,
    "vocab_size": 7,
    "embedding_size": 3,
    "padding_idx": 2,
    "normalized_shape": (4,),
    "kernel_size": 3,
    "stride": 2,
    "padding": 1,
    "pad_mode": "pad",
    "dilation": 2,
    "ceil_mode": True,
    "count_include_pad": False,
    "eps": 2e-4,
    "epsilon": 2e-4,
    "momentum": 0.7,
    "affine": False,
    "has_bias": False,
    "p": 0.3,
    "dropout": 0.2,
    "alpha": 0.3,
    "beta": 0.4,
    "delta": 0.6,
    "lambd": 0.3,
    "margin": 0.3,
    "negative_slope": 0.2,
    "threshold": 0.2,
    "value": 0.1,
    "axis": 0,
    "dim": 0,
    "start_dim": 2,
    "reduction": "sum",
    "label_smoothing": 0.1,
    "ignore_index": 3,
    "input_size": 3,
    "hidden_size": 4,
    "num_layers": 2,
    "batch_first": True,
    "bidirectional": True,
    "embed_dim": 4,
    "num_heads": 2,
    "upscale_factor": 3,
    "output_size": 2,
}
"""Values that are no defaults, by the names of settings."""

WITHOUT: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"p"}),
    frozenset({"dilation"}),
    frozenset({"padding"}),
    frozenset({"padding", "pad_mode"}),
    frozenset({"dilation", "ceil_mode"}),
    frozenset({"padding", "pad_mode", "dilation", "stride"}),
)
"""Settings that are left at their defaults in turn, where a layer refuses them together."""

KEPT_ELSEWHERE = {("PairwiseDistance", "p"), ("Transformer", "dropout")}
"""Settings of PyTorch that its layers keep under another name (torch 2.13)."""


class Readings(msgspec.Struct, frozen=True):
    """The layers that were made, and the settings that were not read as they were given."""

    made: tuple[str, ...]
    wrong: tuple[str, ...]


def read(word: Word) -> Readings:
    """Make every layer of the framework that the word names."""
    torch = word.text == "torch"
    nn: Any = importlib.import_module("torch.nn" if torch else "mindspore.nn")
    base = nn.Module if torch else nn.Cell
    made, wrong = [], []
    for name in sorted(vars(nn)):
        kind = getattr(nn, name)
        if not isinstance(kind, type) or not issubclass(kind, base):
            continue
        given, layer = _made(kind, torch)
        if layer is None:
            continue
        made.append(name)
        for setting, value in given.items():
            seen = layer.settings.get(setting, "nothing")
            if (name, setting) not in KEPT_ELSEWHERE and not _is(seen, value):
                wrong.append(f"{name}.{setting}: given {value}, read {seen}")
    return Readings(tuple(made), tuple(wrong))


def _is(seen: Any, value: Any) -> bool:
    """Whether a setting was read as given; a layer may repeat a number for each dimension."""
    return seen == plain(value) or (isinstance(seen, tuple) and set(seen) == {value})


def _made(kind: type, torch: bool) -> tuple[dict[str, Any], Layer | None]:
    names = [name for name in _settings(kind) if name in UNUSUAL]
    for left_out in WITHOUT:
        given = {name: UNUSUAL[name] for name in names if name not in left_out}
        layer = _layer(kind, given, torch)
        if layer is not None:
            return given, layer
    return {}, None


def _settings(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        if not inspect.isfunction(vars(base).get("__init__")):
            continue
        _, *parameters = inspect.signature(vars(base)["__init__"]).parameters.values()
        named = [parameter.name for parameter in parameters if parameter.kind not in BY_POSITION]
        if named or not parameters:
            yield from named
            return


def _layer(kind: type, given: dict[str, Any], torch: bool) -> Layer | None:
    engine = "torch" if torch else "mindspore"
    layers: Any = importlib.import_module(f"explorer.engines.{engine}.layers")
    with (
        warnings.catch_warnings(),
        layers.constructions_noted() if not torch else nullcontext({}) as noted,
    ):
        warnings.simplefilter("ignore")
        try:
            module = kind(**given)
        except Exception:
            return None  # it needs more than these, or refuses them
    found = layers.layers_of(module) if torch else layers.layers_of(module, noted)
    own: Layer | None = found.get("")
    return own
