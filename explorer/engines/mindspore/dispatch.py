"""The parts of MindSpore's tape by which it is recorded, or what stands in for them."""

from collections.abc import Callable
from typing import Any

from explorer.engines.mindspore.versions import provided

MsDispatchMode: Any = provided("dispatch modes")

saved_tensors_hooks: Any = provided("saved_tensors_hooks")

identity_of: Callable[[Any], int] = provided("identities of the tape's nodes")
