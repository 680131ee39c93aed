"""Settings of PyTorch that may change what is computed, and digests of its random generators."""

import torch

from explorer.engines.random_digests import digest, of_python
from explorer.engines.torch.tensors import dtype_name
from explorer.engines.torch.versions import offered
from explorer.model.graph import Setting


def settings_now() -> dict[str, Setting]:
    """The settings by PyTorch's names; of autocast, the dtype for each kind of device where it is on."""
    settings: dict[str, Setting] = {
        "threads": torch.get_num_threads(),
        "default_dtype": dtype_name(torch.get_default_dtype()),
        "grad_enabled": torch.is_grad_enabled(),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "cudnn.deterministic": bool(torch.backends.cudnn.deterministic),
        "cudnn.benchmark": bool(torch.backends.cudnn.benchmark),
    }
    for device in ("cpu", "cuda"):
        dtype = offered("autocast_dtype")(device)
        if dtype is not None:
            settings[f"autocast.{device}"] = dtype_name(dtype)
    return settings


def random_states() -> dict[str, str]:
    """A digest of the state of every random generator that a step may draw from; none is drawn from."""
    digests = {
        "torch": digest(torch.get_rng_state().numpy().tobytes()),
        **of_python(),
    }
    if torch.cuda.is_initialized():
        for index in range(torch.cuda.device_count()):
            state = torch.cuda.get_rng_state(index)
            digests[f"torch cuda:{index}"] = digest(state.numpy().tobytes())
    return digests
