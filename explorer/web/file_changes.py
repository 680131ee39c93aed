"""A page that shows a file of the owner's is run again when it, or what it imports, is saved."""

from pathlib import Path

import streamlit as st

from explorer.web.offered_scenarios import digest_of_file, is_shipped

LOOK_SECONDS = 1.0
"""The interval at which a page looks at its files."""


def follow_file(path: Path, digest: str) -> None:
    """Run the page again once the file's digest is another; what the address says stays in sight."""
    if not is_shipped(path):
        _look(path, digest)


@st.fragment(run_every=LOOK_SECONDS)
def _look(path: Path, digest: str) -> None:
    if digest_of_file(path) != digest:
        st.rerun()
