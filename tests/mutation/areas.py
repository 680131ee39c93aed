"""Areas of the pure core: their files, the tests that must notice, and the share that must."""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Area(NamedTuple):
    """A part of the pure core.

    ``files`` are glob patterns under the root, ``tests`` what pytest is given. ``least`` is the share
    of its mutants that tests must notice.
    """

    files: tuple[str, ...]
    tests: tuple[str, ...]
    least: float

    def paths(self) -> list[Path]:
        """The files of the area, relative to the root and sorted."""
        found = {path for pattern in self.files for path in ROOT.glob(pattern)}
        return sorted(path.relative_to(ROOT) for path in found)


COMPARISONS = ("tests/compare", "tests/model", "tests/numeric")
FINGERPRINTS = tuple(f"explorer/compare/align/{name}.py" for name in ("sameness", "vertices"))

AREAS = {
    "cases": Area(("explorer/model/cases.py",), ("tests/model", "tests/scenario"), 0.85),
    "compare": Area(("explorer/compare/*.py", "explorer/compare/[rg]*/*.py"), COMPARISONS, 0.85),
    "align": Area(
        (
            "explorer/compare/align/*.py",
            "explorer/operators/arithmetic.py",
            "explorer/operators/families.py",
        ),
        COMPARISONS,
        0.85,
    ),
    "fingerprints": Area((*FINGERPRINTS, "explorer/numeric/*.py"), COMPARISONS, 0.75),
    "ir": Area(("explorer/engines/mindspore/ir/*.py",), ("tests/engines",), 0.75),
    "scenario": Area(("explorer/scenario/*.py",), ("tests/scenario", "tests/exploration"), 0.75),
    "store": Area(("explorer/store/*.py",), ("tests/store",), 0.75),
    "judges": Area(
        (
            "explorer/topics/*/claims*.py",
            "explorer/topics/evidence.py",
            "explorer/topics/boards.py",
        ),
        ("tests/topics",),
        0.75,
    ),
    "findings": Area(
        (
            "explorer/topics/*/findings*.py",
            "explorer/topics/*/readings.py",
            "explorer/topics/*/tables.py",
            "explorer/topics/*/update_rules.py",
        ),
        ("tests/topics",),
        0.75,
    ),
}
"""What ``make mutants AREA=…`` takes."""

PURE = "not mindspore and not torch and not browser and not slow"
"""Tests that need no framework and take no more than a second, by their marks."""
