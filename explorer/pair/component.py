"""The component's parts, joined: its code, its elements and its style sheet."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "browser"

PARTS = (
    "geometry",
    "drawing",
    "minimap",
    "follow",
    "marks",
    "dimming",
    "course",
    "folding",
    "panel",
    "keys",
    "pointer",
    "controls",
    "view",
)
"""The parts of the component's code, in the order in which they are joined."""


def code() -> str:
    """The component's code without an adapter: it defines ``mount``."""
    return "\n".join((FOLDER / f"{part}.js").read_text(encoding="utf-8") for part in PARTS)


def markup() -> str:
    """The elements that ``mount`` finds its places in."""
    return (FOLDER / "view.html").read_text(encoding="utf-8")


def style() -> str:
    """The component's style sheet; colours and fonts are variables of the page around it."""
    return (FOLDER / "view.css").read_text(encoding="utf-8")
