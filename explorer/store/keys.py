"""Keys of what is kept: a digest of everything that a result depends on."""

import functools
import hashlib
import importlib.metadata
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from explorer.shipped import PACKAGE

try:
    from numpy._core._multiarray_umath import __cpu_features__
except ImportError:  # numpy 1
    from numpy.core._multiarray_umath import __cpu_features__

DISTRIBUTIONS = ("mindspore", "torch", "numpy", "keras", "scipy", "networkx")
"""The packages whose versions results depend on; that of the explorer is in its digest."""

VARIABLES = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_HOME_PATH")
"""The variables that say which devices a framework sees."""

FACES = (
    "api",
    "blocks",
    "cli",
    "documents",
    "drawing",
    "mkdocs",
    "pair",
    "pytest_plugin",
    "report",
    "sphinx",
    "web",
    "words",
)
"""The parts of the package that show results: none is made by them, so that a change there keeps all."""

DRIVER = Path("/proc/driver/nvidia/version")


class Key(msgspec.Struct, frozen=True):
    """The key of one result.

    ``kind`` is what sort it is ("scenario", "measurement", "versions"), ``name`` what a person calls
    it; ``digest`` is of all that it depends on, in 64 hexadecimal digits.
    """

    kind: str
    name: str
    digest: str


def key_of(kind: str, name: str, *parts: Any) -> Key:
    """The key of a result that depends on the installation and on ``parts``.

    Parts are records, or plain values of which MessagePack has an equal.
    """
    # In order: two dicts with the same entries are one part.
    content = msgspec.msgpack.encode([kind, name, installation(), *parts], order="sorted")
    return Key(kind, name, hashlib.sha256(content).hexdigest())


@functools.cache
def installation() -> dict[str, str]:
    """The explorer's code, the versions of the packages that take part, and the class of the machine."""
    facts = {"explorer": _digest_of_code(), "python": platform.python_version(), **_machine()}
    facts.update({name: _version(name) for name in DISTRIBUTIONS})
    return facts


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _digest_of_code() -> str:
    # A version alone would keep what an older checkout of the same version has found.
    inner = [path for path in PACKAGE.rglob("*.py") if not _is_of(path, FACES)]
    return _digest_of_files(inner)


@functools.cache
def digest_of_parts(*parts: str) -> str:
    """The digest of some parts of the package, such as "drawing", for what is kept of their work."""
    return _digest_of_files(path for path in PACKAGE.rglob("*.py") if _is_of(path, parts))


def _is_of(path: Path, parts: tuple[str, ...]) -> bool:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py") in parts


def _digest_of_files(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _machine() -> dict[str, str]:
    """What the last digits of a result depend on: the processor's vector units, and the devices."""
    units = " ".join(sorted(name for name, has_it in __cpu_features__.items() if has_it))
    facts = {"system": platform.system(), "machine": platform.machine(), "units": units}
    for name in VARIABLES:
        facts[name] = os.environ.get(name, "")
    facts["driver"] = DRIVER.read_text() if DRIVER.is_file() else ""
    return facts
