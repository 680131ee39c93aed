"""The measurements of the operators study by name; claims take from here the ones that decide them."""

from explorer.model.measurement import Measurement
from explorer.topics.operators.kinks import GROUPS

FRAMEWORKS = ("mindspore", "torch")
THREE = (*FRAMEWORKS, "keras")
"""Keras runs in the worker of PyTorch, which is its backend."""
STYLES = ("graph", "tape")
ENGINES = tuple(f"{framework}-{style}" for framework in FRAMEWORKS for style in STYLES)
KERAS_LAYERS = ("dropout", "batch_norm", "formulas", "axes")
"""Themes that Keras has in one module."""

Asked = dict[str, Measurement]
"""Measurements of one question, by who is asked: a framework, or "mindspore-graph" for one of its
styles.
"""


def _asked(who: str, theme: str, question: str, **options: str) -> Measurement:
    framework, _, style = who.partition("-")
    module = "layers" if framework == "keras" and theme in KERAS_LAYERS else theme
    return Measurement(
        name=".".join(("operators", question, who, *options.values())),
        kind="mindspore" if framework == "mindspore" else "torch",
        target=f"explorer.topics.operators.in_{framework}_{module}:{question}",
        options={**({"style": style} if style else {}), **options},
    )


def _all(whom: tuple[str, ...], theme: str, question: str) -> Asked:
    return {who: _asked(who, theme, question) for who in whom}


KINKS = {
    (who, group): _asked(who, "kinks", "gradients_at_kinks", group=group)
    for who in ENGINES
    for group in GROUPS
}
SLOPES = {group: _asked("torch", "kinks", "slopes_at_kinks", group=group) for group in GROUPS}
DROPOUT_SETTINGS = _all(THREE, "dropout", "dropout_settings")
DROPOUT_DRAWS = _all(FRAMEWORKS, "dropout", "dropout_draws")
DROPOUT_MASK = _all(ENGINES, "dropout", "dropout_mask")
BATCH_NORM = _all((*ENGINES, "keras"), "batch_norm", "batch_norm_states")
MOMENTUM = _all(THREE, "batch_norm", "batch_norm_momentum")
AXES = _all(THREE, "axes", "axes")
POOL = _all((*ENGINES, "keras"), "padding", "max_pool_of_nine")
SIDES = _all(THREE, "padding", "convolution_sides")
SIDES_OF_A_NUMBER = _all(FRAMEWORKS, "padding", "convolution_sides_of_a_number")
VALID = _all(THREE, "padding", "valid_sizes")
CONVOLUTION_DEFAULT = _all(THREE, "padding", "convolution_default")
INITIAL = _all(THREE, "initial", "initial_values")
EPSILON = _all(THREE, "formulas", "layer_norm_of_a_small_pair")
GELU = _all((*ENGINES, "keras"), "formulas", "gelu")
CROSS_ENTROPY = _all((*ENGINES, "keras"), "formulas", "cross_entropy")
GRADIENTS = _all(ENGINES, "agreement", "operator_gradients")
INFERENCE = _all(ENGINES, "inference", "inference")
