"""Two recorded trainings beside each other, for programs and notebooks."""

from pathlib import Path
from typing import Any

import msgspec

from explorer.blocks.html import NOTEBOOK, html
from explorer.model.report import Report
from explorer.model.training_comparison import TrainingComparison
from explorer.report.files import put_file
from explorer.report.training import (
    comparison_blocks,
    comparison_lines,
    comparison_page,
    graph_lines,
)
from explorer.text.clean import clean
from explorer.words.training import headline


class TrainingsDifference(msgspec.Struct, frozen=True):
    """Where two trainings first differ, and by which rule; ``comparison`` has all of it.

    ``graphs`` are those of the step where they first differ; None where these were not recorded.
    """

    comparison: TrainingComparison
    graphs: Report | None = None

    @property
    def is_same(self) -> bool:
        """Whether no difference was found."""
        return self.comparison.difference is None

    def explain(self) -> str:
        """The step, the quantity and the reason of the first difference; or that there is none."""
        return clean(headline(self.comparison))

    def html(self) -> str:
        """A page with the answers and the pictures."""
        return comparison_page(self.comparison, self.graphs).decode()

    def save(self, path: str | Path) -> Path:
        """Write html() to a file, whole or not at all; UsageError where that cannot be."""
        return put_file(Path(path), self.html().encode())

    def __repr__(self) -> str:
        return f"<TrainingsDifference: {self.explain()}>"

    def __str__(self) -> str:
        lines = (*comparison_lines(self.comparison), *graph_lines(self.graphs))
        return "\n".join(map(clean, lines))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {
            "text/plain": str(self),
            "text/html": html(comparison_blocks(self.comparison, self.graphs), NOTEBOOK),
        }
