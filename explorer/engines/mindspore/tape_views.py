"""Indexing of tensors, which takes views that MindSpore's dispatch mode does not see (2.10.0)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mindspore as ms

INDEXING = "__getitem__"


@contextmanager
def indexing_watched(watch: Callable[[Any], None]) -> Iterator[None]:
    """Call ``watch`` meanwhile with whatever a tensor's indexing returns."""
    method = getattr(ms.Tensor, INDEXING)
    is_inherited = INDEXING not in vars(ms.Tensor)

    def indexed(tensor: Any, index: Any) -> Any:
        part = method(tensor, index)
        watch(part)
        return part

    setattr(ms.Tensor, INDEXING, indexed)
    try:
        yield
    finally:
        if is_inherited:
            delattr(ms.Tensor, INDEXING)
        else:
            setattr(ms.Tensor, INDEXING, method)
