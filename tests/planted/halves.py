"""The nets that mistakes are planted in: a file has PyTorch's half, and MindSpore's is made of it."""

import functools
import re
from pathlib import Path

import msgspec

from tests.support.twin_nets import with_changes

FILES = {file.stem: file for file in (Path(__file__).parent / "nets").glob("*.py")}
"""The files of PyTorch's halves, by net."""

_CHANGES = msgspec.toml.decode(
    (Path(__file__).parent / "nets" / "in_mindspore.toml").read_bytes(), type=dict[str, str]
)

_IMPORTS = re.compile(r"^    (import torch|from torch.*)\n", re.MULTILINE)


@functools.cache
def both_halves(net: str) -> str:
    """The text of a net's scenario, MindSpore's half before PyTorch's."""
    head, _, torch = FILES[net].read_text(encoding="utf-8").partition("def torch_net():\n")
    mindspore = with_changes(_IMPORTS.sub("", torch), _CHANGES[net])
    names = [
        name for name in ("Parameter", "nn", "ops") if re.search(rf"\b{name}\b[.(]", mindspore)
    ]
    imports = f"    from mindspore import {', '.join(names)}\n"
    if "ms." in mindspore:
        imports = f"    import mindspore as ms\n{imports}"
    return f"{head}def mindspore_net():\n{imports}{mindspore}\n\ndef torch_net():\n{torch}"
