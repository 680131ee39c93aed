"""Arrays moved or masked at random, from seeds that are the same in every process.

Arrays move by one unit in the last place, so that a computation rounds otherwise. That is
stochastic arithmetic: CADNA (Jezequel and Chesneaux, 2008), Verificarlo (Denis et al., 2016).
"""

import zlib
from collections.abc import Mapping

import numpy as np

from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.numeric.differences import real_parts

KEPT_BITS = 8
"""Numbers with at most this many significant bits stay as they are.

Such are labels, indices, masks, and the kinks at 0, 0.5, 1 or 6: moved, they would ask another
question.
"""


def jittered(array: AnyArray, name: str, sample: int) -> AnyArray:
    """``array`` with its elements moved to a neighbour at random; itself where ``sample`` is 0.

    Integers, and numbers with few significant bits, stay. ``name`` and ``sample`` seed the draw,
    alike in every process. The parts of a complex number move apart from each other.
    """
    if sample and array.dtype.kind == "c":
        parts = jittered(real_parts(array), name, sample)
        whole: AnyArray = np.ascontiguousarray(parts).view(array.dtype)[..., 0]
        return whole
    if not sample or array.dtype.kind != "f":
        return array
    # Not hash(), which Python salts anew in every process.
    draws = np.random.default_rng([zlib.crc32(name.encode()), sample])
    upwards = draws.random(array.shape) < 0.5
    neighbours = np.nextafter(array, np.where(upwards, np.inf, -np.inf).astype(array.dtype))
    moved: AnyArray = np.where(is_short(array, KEPT_BITS), array, neighbours)
    return moved


def moved_by_rounding(array: AnyArray, name: str, sample: int) -> AnyArray:
    """``array`` with every element but zeros moved to a neighbour at random, however short it is.

    Integers stay. ``name`` and ``sample`` seed the draw, alike in every process.
    """
    if array.dtype.kind != "f":
        return array
    draws = np.random.default_rng([zlib.crc32(name.encode()), sample])
    away = np.where(draws.random(array.shape) < 0.5, np.inf, -np.inf).astype(array.dtype)
    moved: AnyArray = np.where(array == 0, array, np.nextafter(array, away))
    return moved


def jittered_arrays(arrays: Mapping[str, AnyArray], sample: int) -> dict[str, AnyArray]:
    """Arrays by name, jittered; one array under two names stays one array."""
    by_array: dict[int, AnyArray] = {}
    for name, array in arrays.items():
        if id(array) not in by_array:
            by_array[id(array)] = jittered(array, name, sample)
    return {name: by_array[id(array)] for name, array in arrays.items()}


def jittered_records(arrays: Mapping[str, Array], sample: int) -> dict[str, Array]:
    """Records of arrays by name, jittered in the dtype that carries them."""
    if not sample:
        return dict(arrays)
    moved = {}
    for name, array in arrays.items():
        moved[name] = pack(jittered(unpack(array), name, sample), array.dtype)
    return moved


def is_short(array: AnyArray, bits: int) -> AnyArray:
    """Whether elements have at most so many significant bits, or are not finite."""
    fractions, _ = np.frexp(np.asarray(array, np.float64))
    scaled = fractions * 2.0**bits
    short: AnyArray = ~np.isfinite(scaled) | (scaled == np.rint(scaled))
    return short


def dropout_mask(shape: tuple[int, ...], rate: float) -> AnyArray:
    """The factor of each element of a tensor of ``shape``: 0, or 1 / (1 - rate).

    The draws depend on the shape alone: layers of other rates drop others of the same elements, and
    nets that call them in another order, or one of them twice, draw alike. float32.
    """
    draws = np.random.default_rng(shape).uniform(size=shape)
    if rate >= 1:
        return np.zeros(shape, np.float32)
    kept: AnyArray = (draws >= rate) / (1 - rate)
    return kept.astype(np.float32)


def channel_mask(shape: tuple[int, ...], rate: float, spatial: int) -> AnyArray:
    """The factor of each channel of a tensor of ``shape``, whose last ``spatial`` axes have it alike.

    That is the mask of a tensor with axes of length 1 in their place. A negative ``spatial`` counts
    the axes in front instead: at -1 each sample has a factor.
    """
    kept = max(len(shape) - spatial, 0) if spatial >= 0 else -spatial
    channels = shape[:kept] + (1,) * (len(shape) - kept)
    return dropout_mask(channels, rate)


ALL_AXES = 64
"""The ``spatial`` of a mask of one factor: no framework's tensor has more axes."""
