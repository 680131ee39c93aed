"""The schedules that the frameworks export, and those of them that no family has."""

from typing import Any

from explorer.topics.evidence import Evidence
from explorer.topics.schedules.counterparts import FAMILIES, FORM_LABELS, names_in
from explorer.topics.schedules.questions import EXPORTED

Exports = dict[str, dict[str, dict[str, Any]]]
"""Exported schedules: by form, then by name, with the defaults and needs of its parameters."""


def exports(evidence: Evidence) -> Exports:
    """What the frameworks' modules export; forms of a framework that was not measured are missing."""
    schedules: Exports = {}
    for figures in evidence[EXPORTED].values():
        schedules.update(figures)
    return schedules


def uncompared(exported: Exports) -> list[str]:
    """Exported schedules, callbacks apart, that no family uses: a new version may have brought
    them.
    """
    names = []
    for form, schedules in exported.items():
        # Callbacks belong to Model.train, which PyTorch has no counterpart of.
        if form == "callback":
            continue
        compared = set[str]()
        for family in FAMILIES:
            if form in family.schedules:
                compared |= names_in(family.schedules[form])
        names += [f"{FORM_LABELS[form]} {name}" for name in schedules if name not in compared]
    return sorted(names)
