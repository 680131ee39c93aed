"""What PyTorch's measuring functions share: numbers of tensors."""

from typing import Any

import torch


def listed(value: Any) -> Any:
    """Nested lists of numbers of tensors, in the nesting given."""
    if isinstance(value, (tuple, list)):
        return [listed(item) for item in value]
    return value.detach().cpu().tolist() if isinstance(value, torch.Tensor) else value
