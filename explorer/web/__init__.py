"""The Streamlit app: one report, chosen in the sidebar, on pages of cases, graphs and versions.

Streamlit puts this folder first on ``sys.path``, so no module here may have the name of one that is
imported from elsewhere.
"""

from pathlib import Path

ENTRY = Path(__file__).parent / "entry.py"
"""The script of the pages, with the app's settings in .streamlit beside it."""
