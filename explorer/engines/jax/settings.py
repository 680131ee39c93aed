"""Settings of JAX that may change what is computed."""

from typing import Any

import jax

from explorer.model.graph import Setting

NAMES = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_threefry_partitionable",
    "jax_disable_jit",
)


def settings_now() -> dict[str, Setting]:
    """The settings by JAX's names."""
    return {name.removeprefix("jax_"): _plain(getattr(jax.config, name)) for name in NAMES}


def _plain(value: Any) -> Setting:
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
