"""The GPU of tests that need one."""

import pytest

from explorer.exploration.installed import about_framework
from explorer.model.results import About
from explorer.workers.workers import Workers


def cuda_device(workers: Workers) -> str:
    """The first CUDA device; the test is skipped where PyTorch finds none."""
    reply = about_framework(workers, "torch")
    assert isinstance(reply, About)
    if "cuda:0" not in reply.devices:
        pytest.skip(
            f"needs an NVIDIA GPU that PyTorch can use: PyTorch {reply.versions['torch']} finds "
            f"{', '.join(reply.devices)} here"
        )
    return "cuda:0"
