"""Keys that browser tests press on a page of the app."""

import re
from typing import Any

AT_REST = "[data-test-script-state=notRunning]"
"""The app while no script of the page runs (Streamlit 1.67)."""


def first_stage(page: Any, side: str, stage: str) -> None:
    """Move the slider of one side's stages to the first with one key, once the page is at rest."""
    page.locator(AT_REST).wait_for()
    page.get_by_role("slider", name=f"Stage on the {side}").press("Home")
    page.wait_for_url(re.compile(re.escape(f"{side}_stage={stage}")))
