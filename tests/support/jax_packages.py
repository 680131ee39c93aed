"""Packages that JAX's environment may have beside JAX: tests that need one skip by its name."""

import subprocess
from functools import cache

import pytest

from explorer.environments.known import home_of

VERSIONS = {"flax": "0.10.7", "optax": "0.2.8", "equinox": "0.13.8"}
"""Those of requirements-jax.txt."""


def skip_without(*packages: str) -> None:
    """Skips the test, or those of the fixture, unless all packages are where JAX is."""
    for package in packages:
        if not _is_there(package):
            version = VERSIONS[package]
            pytest.skip(
                f"{package} is not installed where JAX is: `pip install {package}=={version}`"
            )


@cache
def _is_there(package: str) -> bool:
    finds = f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"
    return not subprocess.run([home_of("jax").python, "-c", finds], check=False).returncode
