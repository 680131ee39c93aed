"""The look of the drawings: colours, light and dark, sizes, and the style sheet of an SVG.

Lengths are in points, of which an SVG has one to the pixel.
"""

from collections.abc import Mapping
from typing import Final

from explorer.drawing.picture import BoxRole, WireKind
from explorer.text.language import code

COLOURS: Final = {
    "paper": ("#ffffff", "#12171d"),
    "ink": ("#1b2733", "#e8edf2"),
    "soft": ("#5f6e7c", "#9aa8b5"),
    "group": ("#f3f5f7", "#1a2129"),
    "group-line": ("#dde3e9", "#2c3742"),
    "forward": ("#e4eefa", "#17304c"),
    "forward-line": ("#2b6cb0", "#6aa9e9"),
    "backward": ("#fdecdc", "#45290f"),
    "backward-line": ("#c05a12", "#f09a55"),
    "leaf": ("#eaf3e3", "#22361a"),
    "leaf-line": ("#4d7a2a", "#8fc168"),
    "accumulate": ("#f0e6fa", "#35234a"),
    "accumulate-line": ("#7c4dab", "#bd95e6"),
    "quiet": ("#ffffff", "#161c23"),
    "quiet-line": ("#b8c2cc", "#4a5865"),
    "rung": ("#7b8794", "#8593a0"),
    "alarm": ("#c81e1e", "#ff7b72"),
    "badge": ("#1b2733", "#e8edf2"),
    "badge-ink": ("#ffffff", "#12171d"),
}
"""Every colour by name, on light paper and on dark."""

LIGHT: Final = {name: light for name, (light, _) in COLOURS.items()}
"""The colours on light paper, by name."""

DARK: Final = {name: dark for name, (_, dark) in COLOURS.items()}
"""The colours on dark paper, by name."""

SERIES_COLOURS: Final = (
    ("#2b6cb0", "#6aa9e9"),
    ("#c05a12", "#f09a55"),
    ("#4d7a2a", "#8fc168"),
    ("#7c4dab", "#bd95e6"),
    ("#b3316e", "#f08bb8"),
    ("#1f7a7a", "#5fc4c4"),
    ("#8a6d00", "#d9bd55"),
    ("#5f5f6e", "#b4b4c4"),
)
"""The colour of each series of a chart in turn, on light paper and on dark."""

FILL: Final[dict[BoxRole, str]] = {
    "forward": "forward",
    "result": "forward",
    "call": "forward",
    "call-backward": "backward",
    "backward": "backward",
    "seed": "backward",
    "leaf": "leaf",
    "gradient": "leaf",
    "accumulate": "accumulate",
    "quiet": "quiet",
}
"""The name of the colour that fills each role; its outline has that name with "-line"."""

WIRE: Final[dict[WireKind, str]] = {
    "forward": "forward-line",
    "backward": "backward-line",
    "leaf": "leaf-line",
    "gradient": "leaf-line",
    "rung": "rung",
    "control": "quiet-line",
}
"""The colour that each kind of edge is drawn in."""

COLUMN_KINDS: Final[tuple[WireKind, ...]] = ("forward", "backward", "leaf", "gradient")
"""The kinds of edge that share their colour with the heading of a column."""

FONT_FAMILIES: Final = "Roboto, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
FONTS_OF_LANGUAGES: Final = {
    "zh": "'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'WenQuanYi Micro Hei'"
}
"""The fonts of a language for signs that the others lack, by the language's code."""

CHART_FONT_FAMILIES: Final = "Roboto, Segoe UI, Helvetica, Arial, sans-serif"

HEADLINE_SIZE: Final = 15
"""The font size of a picture's title."""

TITLE_SIZE: Final = 12
"""The font size of the first line of a box."""

NOTE_SIZE: Final = 11
"""The font size of a note."""

SMALL_SIZE: Final = 10
"""The font size of a shape or a value."""

LABEL_SIZE: Final = 9
"""The font size of a module's label."""

MARGIN: Final = 20.0
"""Room between a picture's border and everything in it."""

PAD: Final = 8.0
"""Room between a box's side and its text."""

BOX_HEIGHT: Final = 22.0
"""The height of a box with one line of text."""

QUIET_HEIGHT: Final = 18.0
"""The height of a box with one small line."""

VALUE_HEIGHT: Final = 36.0
"""The height of a box with a value below its title."""

LINE_HEIGHT: Final = 13.0
"""The height that a further line below the value adds to a box, in points."""

LEAST_BOX_WIDTH: Final = 56

BOX_CORNER: Final = 6.0
BOX_CORNERS: Final[dict[BoxRole, float]] = {
    "accumulate": 11.0,
    "leaf": 4.0,
    "gradient": 4.0,
    "quiet": 9.0,
    "seed": 11.0,
}
"""The corner radius of a box, and those of some roles."""

BADGE_HEIGHT: Final = 14.0

GROUP_SIDE: Final = 7.0
"""Room between the left or right side of a group and the boxes or groups in it."""

GROUP_LABEL_START: Final = 6.0
"""Distance of a group's label from the group's left side."""


def font_families() -> str:
    """The fonts of a drawing in the reader's language, the preferred one first."""
    own = FONTS_OF_LANGUAGES.get(code())
    if own is None:
        return FONT_FAMILIES
    families, _comma, generic = FONT_FAMILIES.rpartition(", ")
    return f"{families}, {own}, {generic}"


def adaptive_style_sheet(scope: str) -> str:
    """The style sheet of one SVG whose root has the class ``scope``, light or dark.

    The reader's preference decides, unless the page does: by the class "light" or "dark" on the SVG
    or on an element around it, or by an attribute on an element around it: ``data-theme`` of Sphinx's
    themes, ``data-md-color-scheme`` of MkDocs Material.
    """
    dark, light = _variables(DARK), _variables(LIGHT)
    forced_dark = (
        f".dark .{scope},.{scope}.dark,[data-theme=dark] .{scope},"
        f"[data-md-color-scheme=slate] .{scope}{{{dark}}}"
    )
    forced_light = (
        f".light .{scope},.{scope}.light,[data-theme=light] .{scope},"
        f"[data-md-color-scheme=default] .{scope}{{{light}}}"
    )
    # Light is the default: a page that asks for it only has to overrule a preference for dark.
    preferred = f"@media (prefers-color-scheme:dark){{.{scope}{{{dark}}}{forced_light}}}"
    variables = {name: f"var(--{name})" for name in COLOURS}
    return f".{scope}{{{light}}}{preferred}{forced_dark}" + _rules(scope, variables)


def plain_style_sheet(scope: str) -> str:
    """The light style sheet, for renderers that know neither variables nor media queries."""
    return _rules(scope, LIGHT)


def _variables(colours: Mapping[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in colours.items())


def _rules(scope: str, colours: Mapping[str, str]) -> str:
    # Of rules that are equally specific, the last one holds.
    rules = [*_shape_rules(colours), *_colour_rules(colours)]
    return "".join(_rule(scope, selectors, body) for selectors, body in rules)


def _rule(scope: str, selectors: str, body: str) -> str:
    """One rule, each of its selectors inside ``scope``: other pictures may stand on the page."""
    scoped = [f".{scope} {selector}" for selector in selectors.split(",")]
    return f"{','.join(scoped)}{{{body}}}"


def _shape_rules(colours: Mapping[str, str]) -> list[tuple[str, str]]:
    """The rules for all boxes, edges and texts: selectors, and the body of the rule."""
    soft, ink = colours["soft"], colours["ink"]
    # Edges pass behind the label of a group: a halo in the group's colour keeps it legible.
    halo = f"stroke:{colours['group']};stroke-width:3;paint-order:stroke;stroke-linejoin:round"
    return [
        ("text", f"font-family:{font_families()};fill:{ink}"),
        (".paper", f"fill:{colours['paper']}"),
        (".b", "stroke-width:1.2"),
        (".t", f"font-size:{TITLE_SIZE}px"),
        (".s", f"fill:{soft};font-size:{SMALL_SIZE}px"),
        (".quiet .t", f"font-size:{SMALL_SIZE}px;fill:{soft}"),
        (".group rect", f"fill:{colours['group']};stroke:{colours['group-line']}"),
        (".label", f"font-size:{LABEL_SIZE}px;fill:{soft};{halo}"),
        (".wire", "fill:none;stroke-width:1.2"),
        (".wire.rung", "stroke-dasharray:4 3;stroke-width:1"),
        (".wire.control", "stroke-dasharray:1 3;stroke-width:1"),
        (".h", f"font-size:{TITLE_SIZE}px;font-weight:600"),
        (".title", f"font-size:{HEADLINE_SIZE}px;font-weight:600"),
        (".badge rect", f"fill:{colours['badge']}"),
        (".badge text", f"font-size:{LABEL_SIZE}px;fill:{colours['badge-ink']}"),
        (".call .b,.call-backward .b,.result .b", "stroke-width:2"),
        (".seed .b", "stroke-dasharray:2 2"),
        (".idle", "opacity:.5"),
        (".note", f"fill:{colours['alarm']};font-size:{NOTE_SIZE}px"),
    ]


def _colour_rules(colours: Mapping[str, str]) -> list[tuple[str, str]]:
    """The rules for each role and each kind of edge; the last ones, for alarms, win over these."""
    rules = []
    for role, fill in FILL.items():
        rules.append((f".{role} .b", f"fill:{colours[fill]};stroke:{colours[fill + '-line']}"))
    for kind, line in WIRE.items():
        rules.append((f".wire.{kind}", f"stroke:{colours[line]}"))
    for kind, line in WIRE.items():
        rules.append((f".tip-{kind}", f"fill:{colours[line]}"))
    rules += [(f".h.{kind}", f"fill:{colours[WIRE[kind]]}") for kind in COLUMN_KINDS]
    rules.append((".alarm .b", f"stroke:{colours['alarm']};stroke-width:2"))
    rules.append((".alarm .v,.refuted .v", f"fill:{colours['alarm']};font-weight:600"))
    # Two signs beside the colour: a refuted value says so, a divergence has a disc with "≠".
    rules.append((".refuted .b", f"stroke:{colours['alarm']};stroke-width:2;stroke-dasharray:6 3"))
    rules.append((".diverges .b", f"stroke:{colours['alarm']};stroke-width:3"))
    rules.append((".unequal circle", f"fill:{colours['alarm']}"))
    rules.append((".unequal path", f"fill:none;stroke:{colours['paper']};stroke-width:1.6"))
    return rules
