"""The component's parts, joined: its code, its elements, its style sheet and its texts."""

from pathlib import Path

from explorer.text.language import _

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
    "causes",
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


def words() -> dict[str, str]:
    """Every text, in the visitor's language; places in braces are filled in the browser."""
    texts = {
        "engines": _("Which two engines"),
        "controls": _("Controls"),
        "search": _("Find nodes"),
        "search_hint": _("Find op, module, argument"),
        "filter": _("Which nodes to show"),
        "filter_all": _("All nodes"),
        "filter_differs": _("Only differences"),
        "filter_unpaired": _("Only unpaired"),
        "filter_new": _("Only what the pass changed"),
        "first_divergence": _("First divergence"),
        "found": _("{n} found"),
        "differs": _("{n} nodes differ"),
        "differs_one": _("1 node differs"),
        "unpaired": _("{n} nodes unpaired"),
        "unpaired_one": _("1 node unpaired"),
        "new": _("{n} nodes are new in their stage"),
        "new_one": _("1 node is new in its stage"),
        "follow": _("Panes follow each other"),
        "zoom_out": _("Zoom out (-)"),
        "zoom_in": _("Zoom in (+)"),
        "side_by_side": _("Side by side"),
        "one_above": _("One above the other"),
        "fit": _("Fit"),
        "step": _("Step of the execution"),
        "play": _("Play the execution"),
        "pause": _("Pause"),
        "whole_run": _("Whole run"),
        "all_run": _("Everything has run; move the slider to step through the execution."),
        "left": _("Left"),
        "right": _("Right"),
        "left_graph": _("Left graph"),
        "right_graph": _("Right graph"),
        "open": _("Open module {module}"),
        "fold": _("Fold module {module}"),
        "panel": _("The chosen node and its partner"),
        "nothing_chosen": _(
            "Click a node for its values, its source line, and the node that holds the same "
            "quantity on the other side."
        ),
        "divergences": _("{n} places where the graphs differ"),
        "divergences_one": _("1 place where the graphs differ"),
        "copy": _("Copy"),
        "copied": _("Copied"),
        "tried": _("What was tried here"),
        "arguments": _("arguments"),
        "layer": _("layer"),
        "other_value": _("The other side has another value under the same name"),
        "forward_node": _("Derives from the forward node {node}"),
        "heat_map": _("{rows} × {columns} values, blue below zero, orange above: {range}"),
        "difference_map": _("Where the two differ: {rows} × {columns} elements, {range}"),
        "keys_title": _("Keyboard"),
        "keys": _(
            "Arrows: to the next node; with Shift: move the drawing\n"
            "Enter: choose the node; Escape: choose nothing, show all\n"
            "n, p: next and previous divergence; /: search\n"
            "Space: play and pause; comma and full stop: one step back and forth\n"
            "+, -: zoom; 0: fit; ?: this help"
        ),
    }
    # As plain strings, which are what msgspec encodes.
    return dict(zip(texts, map(str, texts.values()), strict=True))
