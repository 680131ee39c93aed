"""Sweeps written by hand."""

from typing import Any

from explorer.sweep.records import PairRow, Sweep, SweepRow

PAIR = PairRow(left="12/14", right="12/12", divergences=("they part at relu",), expected=False)


def row(scenario: str, **told: Any) -> SweepRow:
    """A row that is as expected, but for what is ``told``."""
    return SweepRow(**{"scenario": scenario, "study": "", "verdict": "as_expected", **told})


def sweep(*rows: SweepRow, **told: Any) -> Sweep:
    """A sweep with these rows."""
    head = {"date": "2026-01-02T03:04:05+00:00", "seconds": 12.5, "versions": {"torch": "2.13.0"}}
    return Sweep(**{**head, **told}, rows=rows)
