"""Draws docs/images/architecture.svg from architecture.dot, with the Graphviz of pygraphviz."""

from pathlib import Path

import pygraphviz

IMAGES = Path(__file__).resolve().parent / "images"


def main() -> None:
    """Lay the graph out and write the picture."""
    graph = pygraphviz.AGraph(string=(IMAGES / "architecture.dot").read_text(encoding="utf-8"))
    graph.layout("dot")
    graph.draw(IMAGES / "architecture.svg", format="svg")


if __name__ == "__main__":
    main()
