"""Keras on its PyTorch backend, imported so that its settings stay out of the user's home."""

import importlib
import os
from typing import Any

import numpy as np
import torch


def keras() -> Any:
    """The module `keras`, with its random numbers started anew.

    Its settings file goes into the worker's scratch folder.
    """
    os.environ["KERAS_BACKEND"] = "torch"
    os.environ["KERAS_HOME"] = os.path.join(os.getcwd(), "keras")
    module = importlib.import_module("keras")
    module.utils.set_random_seed(0)
    return module


def array(value: Any) -> Any:
    """The numpy array of a tensor or variable."""
    tensor = getattr(value, "value", value)
    return tensor.detach().cpu().numpy() if isinstance(tensor, torch.Tensor) else np.asarray(tensor)
