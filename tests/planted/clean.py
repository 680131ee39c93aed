"""Nets without a mistake: variants of the nets of ``nets`` with an option changed in both frameworks."""

from collections.abc import Iterator
from pathlib import Path

from tests.planted.mistake import NETS

_Changes = tuple[tuple[str, str], ...]
"""Texts, and what stands in their place wherever they stand in the file."""

_CHANGES: dict[str, dict[str, _Changes]] = {
    "padded_classifier": {
        "wider": (("channels=4", "channels=5"),),
        "slope": ((")), 0.1)", ")), 0.3)"),),
        "uncounted": (
            ("count_include_pad=True", "count_include_pad=False"),
            (
                "nn.AvgPool2d(3, stride=1, padding=1)",
                "nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)",
            ),
        ),
        "momentum": (("momentum=0.9", "momentum=0.8"), ("momentum=0.1", "momentum=0.2")),
        "evaluation": (("TRAIN = True", "TRAIN = False"),),
    },
    "inverted_residual": {
        "wider": (("hidden=8", "hidden=12"),),
        "delta": (("delta=0.5", "delta=1.5"),),
        "silu": (("hardswish", "silu"),),
        "epsilon": (("eps=1e-3", "eps=1e-4"),),
    },
    "causal_attention": {
        "heads": (("heads=2", "heads=4"),),
        "approximate": (
            ("nn.GELU()", 'nn.GELU(approximate="tanh")'),
            ("nn.GELU(approximate=False)", "nn.GELU()"),
        ),
        "epsilon": (("epsilon=1e-5", "epsilon=1e-2"), ("eps=1e-5", "eps=1e-2")),
        "sum": (("mse_loss(out, target)", 'mse_loss(out, target, reduction="sum")'),),
        "norm_after": (("x + self.attn(self.norm1(x))", "self.norm1(x + self.attn(x))"),),
        "longer": (("size=(2, 5, 8)", "size=(2, 6, 8)"),),
    },
    "lstm_by_hand": {
        "narrower": (("hidden=6", "hidden=4"),),
        "gates": (("i, f, g, o = ", "i, f, o, g = "),),
        "longer": (("size=(3, 4, 5)", "size=(3, 6, 5)"),),
    },
    "gru_by_hand": {
        "narrower": (("hidden=4", "hidden=3"),),
        "squared": (("l1_loss", "mse_loss"),),
        "gates": (("(1.0 - z) * n + z * h", "z * n + (1.0 - z) * h"),),
    },
    "upsampling_unet": {
        "wider": (("width=3", "width=4"),),
        "corners": (("align_corners=False", "align_corners=True"),),
        "nearest": (('mode="bilinear", align_corners=False', 'mode="nearest"'),),
        "weight": (("[3.0]", "[0.5]"),),
        "maximum": (("AvgPool2d", "MaxPool2d"),),
    },
    "padded_language_model": {
        "wider": (("dim=6", "dim=8"),),
        "exact": (("approximate=True", "approximate=False"), ('approximate="tanh"', "")),
        "ignored": (("ignore_index=0", "ignore_index=2"),),
        "sum": (("ignore_index=0", 'ignore_index=0, reduction="sum"'),),
    },
    "quantised_autoencoder": {
        "codes": (("codes=5", "codes=7"),),
        "relu": (("nn.Tanh()", "nn.ReLU()"),),
        "commitment": (("0.25 * commitment", "2.0 * commitment"),),
    },
    "graph_attention": {
        "narrower": (
            ("Attention(6, 4)", "Attention(6, 3)"),
            ("Dense(8, 3)", "Dense(6, 3)"),
            ("Linear(8, 3)", "Linear(6, 3)"),
        ),
        "slope": (("scores, 0.2)", "scores, 0.05)"),),
        "tanh": (
            ("ops.elu(self.attn", "ops.tanh(self.attn"),
            ("F.elu(self.attn", "torch.tanh(self.attn"),
        ),
    },
    "spatial_gating": {
        "narrower": (("hidden=12", "hidden=8"),),
        "temperature": (("/ 0.7", "/ 1.3"),),
        "approximate": (
            ('approximate="none"', 'approximate="tanh"'),
            (
                "F.gelu(self.fc1(self.norm(x)))",
                'F.gelu(self.fc1(self.norm(x)), approximate="tanh")',
            ),
        ),
    },
    "momentum_contrast": {
        "temperature": (("self.temperature = 0.2", "self.temperature = 0.5"),),
        "queue": (("size=(4, 6)", "size=(4, 9)"),),
        "features": (("size=(3, 5)", "size=(3, 7)"), ("features=5", "features=7")),
    },
    "detector": {
        "wider": (("hidden=8", "hidden=10"),),
        "beta": (("beta=0.05", "beta=0.2"),),
        "power": (("** 2.0", "** 1.5"),),
        "sigmoid": (("ops.relu6", "ops.sigmoid"), ("F.relu6", "torch.sigmoid")),
    },
    "tied_recurrence": {
        "wider": (("hidden=4", "hidden=6"),),
        "sigmoid": (("ops.tanh", "ops.sigmoid"), ("torch.tanh", "torch.sigmoid")),
        "discount": (("0.8", "0.5"),),
    },
    "actor_critic": {
        "wider": (("hidden=7", "hidden=9"),),
        "discount": (("self.gamma = 0.9", "self.gamma = 0.95"),),
        "delta": (("delta=1.0", "delta=0.3"),),
        "tanh": (("ops.softplus", "ops.tanh"), ("F.softplus", "torch.tanh")),
    },
    "velocity_diffusion": {
        "wider": (("channels=4", "channels=6"),),
        "groups": (("GroupNorm(2,", "GroupNorm(1,"),),
        "time": (("time_dim=6", "time_dim=8"),),
        "bound": (("max=2.0", "max=3.0"),),
    },
    "style_transfer": {
        "edge": (('mode="reflect"', 'mode="replicate"'),),
        "wider": (("width=4", "width=5"),),
        "bilinear": (('mode="nearest"', 'mode="bilinear", align_corners=False'),),
        "look": (("20.0 * look", "5.0 * look"),),
    },
    "rotary_block": {
        "heads": (("heads=2", "heads=4"),),
        "epsilon": (("eps=1e-5", "eps=1e-2"),),
        "gelu": (
            ("ops.silu(self.gate(x))", 'ops.gelu(self.gate(x), approximate="none")'),
            ("F.silu", "F.gelu"),
        ),
        "base": (("100.0 **", "1000.0 **"),),
    },
    "switch_experts": {
        "experts": (("experts=3", "experts=4"),),
        "wider": (("hidden=6", "hidden=8"),),
        "tanh": (("ops.relu", "ops.tanh"), ("F.relu", "torch.tanh")),
        "balance": (("0.1 * balance", "0.5 * balance"),),
    },
    "quantile_forecast": {
        "wider": (("channels=4", "channels=6"),),
        "levels": (("[[0.1, 0.5, 0.9]]", "[[0.2, 0.5, 0.7]]"),),
        "longer": (("size=(3, 2, 8)", "size=(3, 2, 10)"), ("/ 7.0", "/ 9.0")),
        "exponential": (("ops.softplus", "ops.exp"), ("F.softplus", "torch.exp")),
    },
    "shifted_windows": {
        "temperature": (("/ 2.0", "/ 3.0"), ("* 4.0", "* 9.0")),
        "classes": (("size=(2, 5)", "size=(2, 7)"), ("classes=5", "classes=7")),
        "sum": (('reduction="batchmean"', 'reduction="sum"'),),
    },
    "twin_views": {
        "rate": (("p=0.25", "p=0.5"),),
        "wider": (("dim=6", "dim=8"),),
        "momentum": (("momentum=0.9", "momentum=0.7"), ("momentum=0.1", "momentum=0.3")),
    },
    "gaussian_vae": {
        "smaller": (("size=(4, 3)", "size=(4, 2)"), ("dim=3", "dim=2")),
        "wider": (("hidden=8", "hidden=12"),),
        "bounds": (("min=-0.2, max=0.2", "min=-1.0, max=0.1"),),
        "tanh": (("ops.mish", "ops.tanh"), ("F.mish", "torch.tanh")),
    },
}
"""The variants of each net."""


def variants() -> Iterator[tuple[str, str]]:
    """The name and the text of every variant, which also draws other inputs than its net.

    Raises ValueError where a text that should be changed does not stand in the net.
    """
    for net, changes_of_net in _CHANGES.items():
        text = (NETS / f"{net}.py").read_text(encoding="utf-8")
        for name, changes in changes_of_net.items():
            yield f"{net}_{name}", _varied(text, changes).replace("rng(", "rng(1000 + ")


def write_variants(folder: Path) -> dict[str, Path]:
    """Write all variants to ``folder``; the file of each name."""
    files = {}
    for name, text in variants():
        files[name] = folder / f"{name}.py"
        files[name].write_text(text, encoding="utf-8")
    return files


def _varied(text: str, changes: _Changes) -> str:
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{old!r} does not stand in the net")
        text = text.replace(old, new)
    return text
