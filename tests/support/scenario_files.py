"""Scenario files made by tests: texts that are given, or written from the layers and lines of nets."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent

import msgspec

from explorer.model.engines import Framework

MINIMAL = (
    "import numpy as np\n"
    "def inputs():\n"
    "    return {'x': np.ones(2, np.float32)}\n"
    "def torch_net():\n"
    "    return None\n"
)
"""The text of a scenario with what it needs and nothing else."""

MINDSPORE_NET = "def mindspore_net():\n    return None\n"
"""The text that adds MindSpore's net."""


def written(folder: Path, text: str, name: str = "given.py") -> Path:
    """A file with ``text``, in ``folder``."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Written from a net's layers and lines

TEXT = """
{head}


def inputs():
{inputs}
"""

HALF = """

def {framework}_net():
{imports}

{body}
"""

IMPORTS: dict[Framework, str] = {
    "mindspore": "import mindspore as ms\nfrom mindspore import nn, ops",
    "torch": "import torch\nfrom torch import nn\nfrom torch.nn import functional as F",
    "jax": "import jax\nimport jax.numpy as jnp",
}

FUNCTION = """{before}
def net({names}):
{lines}

return net
"""

MODULE = """{before}
class Net({base}):
    def __init__(self):
        super().__init__()
{layers}

    def {forward}(self, {names}):
{lines}

return Net()
"""


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One framework's net: lines that make its layers, None of a function, its own, and those before it."""

    layers: str | None = None
    lines: str = ""
    before: str = ""

    def body(self, framework: Framework, names: str) -> str:
        """The lines of the function that makes the net."""
        before = f"{inside(self.before, 0)}\n" if self.before else ""
        if self.layers is None:
            names = f"params, {names}" if framework == "jax" else names
            return FUNCTION.format(before=before, names=names, lines=inside(self.lines, 4))
        base, forward = {"mindspore": ("nn.Cell", "construct"), "torch": ("nn.Module", "forward")}[
            framework
        ]
        return MODULE.format(
            before=before,
            base=base,
            layers=inside(self.layers or "pass", 8),
            forward=forward,
            names=names,
            lines=inside(self.lines, 8),
        )


def scenario_text(
    inputs: str,
    mindspore: Side | None,
    torch: Side | None,
    names: str = "x",
    head: str = "TRAIN = True",
    jax: Side | None = None,
) -> str:
    """A scenario file; ``inputs`` are the lines of its function, ``head`` is what else it says."""
    sides: dict[Framework, Side | None] = {"mindspore": mindspore, "torch": torch, "jax": jax}
    bodies = {name: side.body(name, names) for name, side in sides.items() if side}
    return text_of(f"import numpy as np\n\n{dedent(head).strip()}", inputs, bodies)


def text_of(head: str, inputs: str, bodies: Mapping[Framework, str]) -> str:
    """A scenario file, by the lines of the functions that make its nets."""
    halves = [
        HALF.format(framework=name, imports=inside(IMPORTS[name], 4), body=inside(body, 4))
        for name, body in bodies.items()
    ]
    return TEXT.format(head=head.strip(), inputs=inside(inputs, 4)) + "".join(halves)


def normal(*shape: int, seed: int = 3) -> str:
    """Lines of ``inputs`` that draw a tensor "x" of a shape."""
    values = f"np.random.default_rng({seed}).normal(size={shape}).astype(np.float32)"
    return f'return {{"x": {values}}}'


def inside(text: str, spaces: int) -> str:
    """Lines at a depth of so many spaces."""
    return indent(dedent(text).strip("\n").rstrip(), " " * spaces)


# PyTorch alone


def function_net(
    folder: Path,
    body: str,
    *,
    declared: str = "",
    before: str = "",
    file: str = "net.py",
    **inputs: str,
) -> Path:
    """The file of a function in PyTorch; inputs are expressions, ``before`` stands before the function."""
    return _in_torch(folder, Side(None, body, before), declared, file, inputs)


def module_net(
    folder: Path, layers: str, body: str, *, declared: str = "", file: str = "net.py", **inputs: str
) -> Path:
    """The file of a module in PyTorch; ``layers`` are the lines that make them, ``body`` its forward."""
    return _in_torch(folder, Side(layers, body), declared, file, inputs)


def _in_torch(folder: Path, net: Side, declared: str, file: str, inputs: dict[str, str]) -> Path:
    arrays = ", ".join(f'"{name}": {array}' for name, array in inputs.items())
    text = scenario_text(f"return {{{arrays}}}", None, net, ", ".join(inputs), declared)
    return written(folder, text, file)
