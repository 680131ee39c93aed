"""JAX's devices by our names: "cpu", "cuda:0", "tpu:0"."""

from typing import Any

import jax

KINDS = {"cpu": "cpu", "cuda": "cuda", "rocm": "cuda"}
"""Our names of JAX's platforms (0.6.2); a platform without one has its own."""


def devices() -> dict[str, Any]:
    """The devices that JAX can use, by our names; of the CPU the first."""
    found = {"cpu": jax.devices("cpu")[0]}
    for device in jax.devices():  # those of the platform that JAX prefers
        # A GPU says "gpu" as its platform, and its client which one.
        kind = KINDS.get(device.client.platform, device.platform)
        if kind != "cpu":
            found[f"{kind}:{device.id}"] = device
    return found
