"""The colours of the drawings, light and dark, as CSS for SVG and as plain colours for other
formats.
"""

from typing import Final

from explorer.drawing.text import FAMILIES

LIGHT: Final = {
    "paper": "#ffffff", "ink": "#1b2733", "soft": "#5f6e7c", "group": "#f3f5f7", "group-line": "#dde3e9",
    "forward": "#e4eefa", "forward-line": "#2b6cb0", "backward": "#fdecdc", "backward-line": "#c05a12",
    "leaf": "#eaf3e3", "leaf-line": "#4d7a2a", "accumulate": "#f0e6fa", "accumulate-line": "#7c4dab",
    "quiet": "#ffffff", "quiet-line": "#b8c2cc", "rung": "#7b8794", "alarm": "#c81e1e",
    "badge": "#1b2733", "badge-ink": "#ffffff",
}  # fmt: skip
DARK: Final = {
    "paper": "#12171d", "ink": "#e8edf2", "soft": "#9aa8b5", "group": "#1a2129", "group-line": "#2c3742",
    "forward": "#17304c", "forward-line": "#6aa9e9", "backward": "#45290f", "backward-line": "#f09a55",
    "leaf": "#22361a", "leaf-line": "#8fc168", "accumulate": "#35234a", "accumulate-line": "#bd95e6",
    "quiet": "#161c23", "quiet-line": "#4a5865", "rung": "#8593a0", "alarm": "#ff7b72",
    "badge": "#e8edf2", "badge-ink": "#12171d",
}  # fmt: skip

FILL: Final = {
    "forward": "forward", "result": "forward", "call": "forward", "call-backward": "backward",
    "backward": "backward", "seed": "backward", "leaf": "leaf",
    "gradient": "leaf", "accumulate": "accumulate", "quiet": "quiet",
}  # fmt: skip
"""The colour that each role is filled with; its line is the colour's "-line"."""

WIRE: Final = {
    "forward": "forward-line", "backward": "backward-line", "leaf": "leaf-line", "gradient": "leaf-line", "rung": "rung",
    "control": "quiet-line",
}  # fmt: skip


def sheet(scope: str) -> str:
    """The style sheet of one SVG whose root has the class ``scope``: light, dark by the reader's
    preference or by the page.

    A page says which by the class "light" or "dark" (or ``data-theme``) on the SVG or on an element
    around it.
    """
    dark, light = _colours(DARK), _colours(LIGHT)
    forced_dark = f".dark .{scope},.{scope}.dark,[data-theme=dark] .{scope}{{{dark}}}"
    forced_light = f".light .{scope},.{scope}.light,[data-theme=light] .{scope}{{{light}}}"
    media = f"@media (prefers-color-scheme:dark){{.{scope}{{{dark}}}{forced_light}}}"
    return f".{scope}{{{light}}}{media}{forced_dark}" + _rules(
        scope, {name: f"var(--{name})" for name in LIGHT}
    )


def plain_sheet(scope: str) -> str:
    """The light style sheet without variables and media, for renderers that know neither."""
    return _rules(scope, LIGHT)


def _colours(colours: dict[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in colours.items())


def _rules(scope: str, of: dict[str, str]) -> str:
    rules = [
        ("text", f"font-family:{FAMILIES};fill:{of['ink']}"),
        (".paper", f"fill:{of['paper']}"),
        (".b", "stroke-width:1.2"),
        (".t", "font-size:12px"),
        (".s", f"fill:{of['soft']};font-size:10px"),
        (".quiet .t", f"font-size:10px;fill:{of['soft']}"),
        (".group rect", f"fill:{of['group']};stroke:{of['group-line']}"),
        (
            ".label",
            f"font-size:9px;fill:{of['soft']};stroke:{of['group']};stroke-width:3;paint-order:stroke;stroke-linejoin:round",
        ),
        (".wire", "fill:none;stroke-width:1.2"),
        (".wire.rung", "stroke-dasharray:4 3;stroke-width:1"),
        (".wire.control", "stroke-dasharray:1 3;stroke-width:1"),
        (".h", "font-size:12px;font-weight:600"),
        (".title", "font-size:15px;font-weight:600"),
        (".badge rect", f"fill:{of['badge']}"),
        (".badge text", f"font-size:9px;fill:{of['badge-ink']}"),
        (".call .b,.SCOPE .call-backward .b,.SCOPE .result .b", "stroke-width:2"),
        (".seed .b", "stroke-dasharray:2 2"),
        (".idle", "opacity:.5"),
        (".note", f"fill:{of['alarm']};font-size:11px"),
    ]
    rules += [
        (f".{role} .b", f"fill:{of[fill]};stroke:{of[fill + '-line']}")
        for role, fill in FILL.items()
    ]
    rules += [(f".wire.{kind}", f"stroke:{of[line]}") for kind, line in WIRE.items()]
    rules += [(f".tip-{kind}", f"fill:{of[line]}") for kind, line in WIRE.items()]
    rules += [
        (f".h.{kind}", f"fill:{of[WIRE[kind]]}")
        for kind in ("forward", "backward", "leaf", "gradient")
    ]
    rules += [
        (".alarm .b", f"stroke:{of['alarm']};stroke-width:2"),
        (".alarm .v", f"fill:{of['alarm']};font-weight:600"),
    ]
    return "".join(
        f".{scope} {selector}{{{body}}}".replace("SCOPE", scope) for selector, body in rules
    )
