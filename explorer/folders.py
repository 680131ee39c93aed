"""The folders of the user's own files: what may be deleted at any time, and what the user has said."""

import os
from pathlib import Path

STORE = "EXPLORER_STORE"
"""The variable that names the folder of caches; by default it is where the system has them."""

SETTINGS = "EXPLORER_CONFIG"
"""The variable that names the folder of settings; by default it is where the system has them."""

NAME = "autodiff-explorer"

COMPILED = "compiled"
"""The folder in that of the caches to which JAX writes what it has compiled."""


def caches() -> Path:
    """The folder of stored results and of what workers need, all of which is made again if need be."""
    named = os.environ.get(STORE)
    if named:
        return Path(named).resolve()
    # Here: a worker that is told its folder needs no such package.
    from platformdirs import user_cache_path

    return user_cache_path(NAME)


def settings() -> Path:
    """The folder of what the user has said for good."""
    named = os.environ.get(SETTINGS)
    if named:
        return Path(named).resolve()
    from platformdirs import user_config_path

    return user_config_path(NAME)
