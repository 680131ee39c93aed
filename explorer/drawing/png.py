"""Renders an SVG of the drawings to PNG, with resvg.

resvg and the font come as Python packages, so that no system package is needed.
"""

from importlib.resources import as_file, files
from typing import Final

FONT_FILES: Final = ("Roboto-Regular.ttf", "Roboto-Medium.ttf")

LONGEST_SIDE: Final = 16000.0
"""The longest side of a PNG in pixels; larger pictures are scaled down to it."""

LARGEST_FINE_AREA: Final = 10e6
"""The largest area with ``scale`` pixels to the point, in square points.

A larger picture gets fewer, down to one: time and size grow with the number of pixels.
"""


def png(svg: bytes, width: float, height: float, scale: float = 2.0) -> bytes:
    """The PNG of a plain SVG that is ``width`` by ``height`` points.

    It has ``scale`` pixels to the point, fewer where the picture is large.
    """
    import resvg_py  # here because only those who ask for a PNG need it

    finest = (LARGEST_FINE_AREA / max(width * height, 1.0)) ** 0.5
    zoom = min(scale, max(1.0, finest), LONGEST_SIDE / max(width, height, 1.0))
    folder = files("font_roboto") / "files"
    with as_file(folder / FONT_FILES[0]) as regular, as_file(folder / FONT_FILES[1]) as medium:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg.decode(),
                zoom=zoom,
                font_files=[str(regular), str(medium)],
                font_family="Roboto",
                sans_serif_family="Roboto",
            )
        )
