"""Settings of MindSpore that may change what is computed, and digests of its random generators."""

import mindspore as ms

from explorer.engines.random_digests import digest, of_python
from explorer.model.graph import Setting

GRAPH_MODE = "GRAPH_MODE"
"""MindSpore's name of the mode that compiles Cells and gradients as a whole."""

CONTEXT = ("device_target", "deterministic", "jit_level", "pynative_synchronize")
"""What of MindSpore's context may change numbers, or how they are computed (2.7 to 2.10)."""


def settings_now() -> dict[str, Setting]:
    """The settings by MindSpore's names."""
    mode = GRAPH_MODE if ms.get_context("mode") == ms.GRAPH_MODE else "PYNATIVE_MODE"
    settings: dict[str, Setting] = {"mode": mode, "seed": ms.get_seed()}
    for name in CONTEXT:
        value = ms.get_context(name)
        settings[name] = value if isinstance(value, (bool, int, float)) else str(value)
    return settings


def random_states() -> dict[str, str]:
    """A digest of the state of every random generator that a step may draw from; none is drawn from.

    Operators that take a seed count their draws inside of MindSpore, where nobody sees them (2.10.0).
    """
    return {"mindspore": digest(ms.get_rng_state().asnumpy().tobytes()), **of_python()}
