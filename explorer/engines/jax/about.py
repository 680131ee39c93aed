"""The version of JAX, and the devices that it can use here."""

import jax

from explorer.engines.jax.devices import devices
from explorer.model.requests import Nothing
from explorer.model.results import About


def about(request: Nothing) -> About:
    """The version of JAX and the devices that it can use: the CPU always, and what its plugins find."""
    return About({"jax": jax.__version__}, tuple(devices()))
