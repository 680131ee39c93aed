"""Reads back what stands in an SVG of a gradient graph."""

from collections.abc import Callable
from typing import NamedTuple
from xml.etree import ElementTree

from explorer.model.graph import GradGraph
from tests.support import drawing_graphs

SVG = "{http://www.w3.org/2000/svg}"

GRAPHS: dict[str, Callable[[], GradGraph]] = {
    "tiny": drawing_graphs.tiny,
    "dense_mse": drawing_graphs.dense_mse,
    "convolution": drawing_graphs.convolution,
    "branches": drawing_graphs.branches,
    "decided": drawing_graphs.decided,
    "residual": lambda: drawing_graphs.residual(3),
    "shared": lambda: drawing_graphs.shared(100),
}
"""Graphs of every shape that a drawing has to cope with."""


class Rectangle(NamedTuple):
    """Where a rectangle is drawn, and the element that it is the outline of."""

    x: float
    y: float
    width: float
    height: float
    element: ElementTree.Element

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        """The y of the middle."""
        return self.y + self.height / 2

    @property
    def classes(self) -> list[str]:
        return self.element.get("class", "").split()

    def overlaps(self, other: "Rectangle") -> bool:
        """Whether two rectangles share a point."""
        beside = self.right <= other.x or other.right <= self.x
        above = self.bottom <= other.y or other.bottom <= self.y
        return not beside and not above


def read_svg(svg: bytes) -> ElementTree.Element:
    """The root of an SVG; fails where it is not well formed."""
    return ElementTree.fromstring(svg)


class PictureSize(NamedTuple):
    """Width and height of a picture, in points."""

    width: float
    height: float

    @property
    def area(self) -> float:
        return self.width * self.height


def picture_size(root: ElementTree.Element) -> PictureSize:
    """The size of an SVG."""
    return PictureSize(float(root.attrib["width"]), float(root.attrib["height"]))


def outlines(root: ElementTree.Element, class_name: str) -> list[Rectangle]:
    """The outline of every group of elements with a class."""
    rectangles = []
    for group in root.iter(f"{SVG}g"):
        if class_name not in group.get("class", "").split():
            continue
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        rectangles.append(Rectangle(x, y, width, height, group))
    return rectangles


def boxes(root: ElementTree.Element) -> dict[str, Rectangle]:
    """Every node's box, keyed by the id of its element."""
    return {box.element.attrib["id"]: box for box in outlines(root, "node")}


def boxes_by_op(root: ElementTree.Element) -> dict[str, Rectangle]:
    """The last box of each operator."""
    return {box.element.attrib["data-op"]: box for box in outlines(root, "node")}


def edges(root: ElementTree.Element) -> list[ElementTree.Element]:
    """The path of every edge."""
    return [path for path in root.iter(f"{SVG}path") if path.get("data-from")]


def ends(edge: ElementTree.Element) -> tuple[str, str]:
    """The ids of the nodes that an edge leads from and to."""
    return edge.attrib["data-from"], edge.attrib["data-to"]


def texts(root: ElementTree.Element, class_name: str = "") -> list[str]:
    """What is written in the elements of exactly this class, or in all."""
    elements = [text for text in root.iter(f"{SVG}text") if class_name in ("", text.get("class"))]
    return [text.text or "" for text in elements]
