"""What some tests need beside the frameworks, and skip without: packages beside JAX, a GPU."""

import subprocess
from functools import cache

import pytest

from explorer.environments.known import home_of
from explorer.exploration.installed import about
from explorer.model.results import About
from explorer.workers.workers import Workers

VERSIONS = {"flax": "0.10.7", "optax": "0.2.8", "equinox": "0.13.8"}
"""Packages that JAX's environment may have beside JAX: those of requirements-jax.txt."""


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


def cuda_device(workers: Workers) -> str:
    """The first CUDA device; the test is skipped where PyTorch finds none."""
    reply = about(workers, {"torch": "torch"})["torch"]
    assert isinstance(reply, About)
    if "cuda:0" not in reply.devices:
        pytest.skip(
            f"needs an NVIDIA GPU that PyTorch can use: PyTorch {reply.versions['torch']} finds "
            f"{', '.join(reply.devices)} here"
        )
    return "cuda:0"
