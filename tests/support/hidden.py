"""Environments whose Python lacks packages or what an operating system does not have."""

import os
from collections.abc import Iterable
from pathlib import Path

from explorer.shipped import PACKAGE

FOREIGN = (
    "filelock",
    "graphviz",
    "networkx",
    "platformdirs",
    "psutil",
    "pyarrow",
    "pygraphviz",
    "resvg_py",
    "rich",
    "streamlit",
    "typer",
    "typing_extensions",
    "vl_convert",
)
"""Packages of the explorer's that an environment with a framework alone may lack."""

HIDING = """
import sys


class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages} and importer().startswith({folder}):
            raise ModuleNotFoundError(f"No module named {{name!r}} (hidden)", name=name)
        return None


def importer():
    frame = sys._getframe(2)
    while frame and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_code.co_filename if frame else ""


sys.meta_path.insert(0, Hiding())
"""
"""Hides packages from modules in a folder: frameworks may have them."""


def hiding(packages: Iterable[str], folder: Path) -> dict[str, str]:
    """Variables of a process to whose modules of the explorer ``packages`` are not there.

    ``folder`` gets what Python runs when it starts.
    """
    own = f"{PACKAGE}{os.sep}"
    text = HIDING.format(packages=sorted(packages), folder=repr(own))
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    path = [str(folder), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, path))}
