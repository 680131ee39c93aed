"""A limit of the memory that a worker may take for what a file asks of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MORE = 2 << 30
"""So many bytes a worker may take beside those that it has."""

SIZE = Path("/proc/self/statm")
"""Where Linux tells the size of a process, in pages; other systems have no limit here."""


@contextmanager
def limited_memory() -> Iterator[None]:
    """A block in which allocations beyond the limit fail, as they do where there is no memory."""
    if not SIZE.exists():
        yield
        return
    import resource  # which Windows does not have

    pages = int(SIZE.read_text(encoding="ascii").split()[0])
    own = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + MORE
    if own[1] != resource.RLIM_INFINITY:
        limit = min(limit, own[1])
    resource.setrlimit(resource.RLIMIT_AS, (limit, own[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, own)
