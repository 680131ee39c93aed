"""Renders an SVG of ours to PNG with resvg and a font that comes by pip, so that no system package
is needed.
"""

from importlib.resources import as_file, files
from typing import Final

FONT: Final = ("Roboto-Regular.ttf", "Roboto-Medium.ttf")
LARGEST: Final = 16000.0
"""The longest side of a PNG in pixels; larger pictures are scaled down to it."""


AREA: Final = 10e6
"""Pixels above which a picture is not drawn sharper than one pixel to the point: time and size grow
with them.
"""


def png(svg: bytes, width: float, height: float, scale: float = 2.0) -> bytes:
    """The PNG of a plain SVG, ``scale`` pixels to the point as far as AREA allows, and no side
    longer than LARGEST.
    """
    import resvg_py  # only those who ask for a PNG need it

    fine = min(scale, max(1.0, (AREA / max(width * height, 1.0)) ** 0.5))
    zoom = min(fine, LARGEST / max(width, height, 1.0))
    folder = files("font_roboto") / "files"
    with as_file(folder / FONT[0]) as regular, as_file(folder / FONT[1]) as medium:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg.decode(),
                zoom=zoom,
                font_files=[str(regular), str(medium)],
                font_family="Roboto",
                sans_serif_family="Roboto",
            )
        )
