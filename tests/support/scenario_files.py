"""Scenario files made by tests."""

from pathlib import Path

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
