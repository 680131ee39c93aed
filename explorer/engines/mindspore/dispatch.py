"""The parts of MindSpore's tape by which it is recorded, or what stands in for them."""

from collections.abc import Callable
from typing import Any

from explorer.engines.mindspore.versions import provided

MsDispatchMode: Any = provided("MsDispatchMode")

saved_tensors_hooks: Any = provided("saved_tensors_hooks")

identity_of: Callable[[Any], int] = provided("_grad_node._unique_id")

node_of: Callable[[Any], Any] = provided("Tensor._grad_node")
