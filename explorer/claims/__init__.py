"""The table of claims: what the migration guides say, by row; nothing here imports a framework."""

import importlib

from explorer.claims.records import Claim

MODULES = ("gradients", "scaling", "tape", "networks", "devices", "operators", "training", "schedules", "parallel")
"""Modules of this package that each have some claims under the name CLAIMS."""


def claims() -> dict[int, Claim]:
    """Every claim by its row, in order; two under one row are a mistake of ours."""
    found: dict[int, Claim] = {}
    for name in MODULES:
        for claim in importlib.import_module(f"{__name__}.{name}").CLAIMS:
            assert claim.id not in found, f"row {claim.id} is claimed twice, the second time in {name}"
            found[claim.id] = claim
    return dict(sorted(found.items()))
