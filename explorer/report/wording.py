"""Words that all things shown share."""

from collections.abc import Mapping

NOTHING = "—"
"""The text of an empty cell."""


def versions_text(versions: Mapping[str, str]) -> str:
    """Packages with their versions: "mindspore 2.10.0, torch 2.13.0"."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())
