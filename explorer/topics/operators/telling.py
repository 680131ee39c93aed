"""What the operators study tells, theme by theme; no framework here."""

from explorer.topics.evidence import Evidence
from explorer.topics.operators import (
    telling_agreement,
    telling_borders,
    telling_kinks,
    telling_layers,
    telling_values,
)
from explorer.topics.studying import Telling

THEMES = (
    telling_kinks.told,
    telling_layers.told,
    telling_borders.told,
    telling_values.told,
    telling_agreement.told,
)


def tell(evidence: Evidence) -> Telling:
    """Findings, tables and charts of whatever was measured."""
    parts = [theme(evidence) for theme in THEMES]
    return Telling(
        findings=tuple(finding for part in parts for finding in part.findings),
        tables=tuple(table for part in parts for table in part.tables),
        charts=tuple(chart for part in parts for chart in part.charts),
    )
