"""The limit of the memory that a worker takes for what a file asks of it."""

import sys

import pytest

from explorer.workers.memory_limit import MORE, SIZE, limited_memory

needs_linux = pytest.mark.skipif(not SIZE.exists(), reason="there is no limit on this system")


@pytest.mark.slow
@needs_linux
def test_beyond_the_limit_an_allocation_fails_and_behind_the_block_it_does_not() -> None:
    with limited_memory():
        assert len(bytearray(MORE // 8)) == MORE // 8
        with pytest.raises(MemoryError):
            bytearray(2 * MORE)
    assert sys.getsizeof(bytearray(MORE // 4)) > MORE // 4


@needs_linux
def test_the_limit_goes_whatever_the_block_raises() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(ValueError, match="mine"), limited_memory():
        raise ValueError("mine")
    assert resource.getrlimit(resource.RLIMIT_AS) == before
