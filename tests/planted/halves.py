"""The nets that mistakes are planted in: a file has PyTorch's half, and MindSpore's is made of it."""

import ast
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

_DRAWN = re.compile(
    r'^(""".*?"""\n\n(?:import .*?\n\n)?)(.*)SEED = (\d+)\nINPUTS = ({.*?})\n', re.DOTALL
)
"""The head of a file: its docstring, what a scenario says, and what its inputs are drawn of."""

IN_TORCH = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "from torch.nn import functional as F",
}
"""What PyTorch's half imports, by the name that it uses."""


def _with_inputs(head: re.Match[str]) -> str:
    """A head with the function of its inputs: normal numbers by their shapes, or expressions."""
    docstring, settings, seed, given = head.groups()
    pairs = []
    for name, it in ast.literal_eval(given).items():
        drawn = f"random.normal(size={it}).astype(np.float32)" if isinstance(it, tuple) else it
        pairs.append(f'"{name}": {drawn}')
    one = f"{{{pairs[0]}}}"
    several = "{\n" + "".join(f"        {pair},\n" for pair in pairs) + "    }"
    return (
        f"{docstring}import numpy as np\n\n{settings}\n\ndef inputs():\n"
        f"    random = np.random.default_rng({seed})\n"
        f"    return {several if pairs[1:] else one}\n"
    )


def _uses(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b[.(]", text) is not None


@functools.cache
def both_halves(net: str) -> str:
    """The text of a net's scenario, MindSpore's half before PyTorch's."""
    head, _, torch = FILES[net].read_text(encoding="utf-8").partition("def torch_net():\n")
    mindspore = with_changes(torch, _CHANGES[net])
    names = [name for name in ("Parameter", "nn", "ops") if _uses(mindspore, name)]
    imports = f"    from mindspore import {', '.join(names)}\n"
    if "ms." in mindspore:
        imports = f"    import mindspore as ms\n{imports}"
    head = _DRAWN.sub(_with_inputs, head)
    of_torch = "".join(f"    {it}\n" for name, it in IN_TORCH.items() if _uses(torch, name))
    return (
        f"{head}def mindspore_net():\n{imports}\n{mindspore}\n\n"
        f"def torch_net():\n{of_torch}\n{torch}"
    )
