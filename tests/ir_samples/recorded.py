"""The IR of all nets' compiled gradients, recorded with several versions of MindSpore."""

import lzma
from pathlib import Path

import msgspec

VERSIONS = Path(__file__).parent / "versions"
"""A file for each version: programs by the names of their nets."""

SUFFIX = ".msgpack.xz"


def versions() -> list[str]:
    """The versions of MindSpore that are recorded."""
    return sorted(file.name.removesuffix(SUFFIX) for file in VERSIONS.glob(f"*{SUFFIX}"))


def programs(version: str) -> dict[str, str]:
    """The programs of a version as IR texts, by the names of their nets."""
    data = lzma.decompress((VERSIONS / f"{version}{SUFFIX}").read_bytes())
    return msgspec.msgpack.decode(data, type=dict[str, str])


def write(version: str, texts: dict[str, str]) -> None:
    """Write the file of a version anew."""
    VERSIONS.mkdir(exist_ok=True)
    data = lzma.compress(msgspec.msgpack.encode(texts), preset=9 | lzma.PRESET_EXTREME)
    (VERSIONS / f"{version}{SUFFIX}").write_bytes(data)
