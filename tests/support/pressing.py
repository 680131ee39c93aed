"""Keys that browser tests press on a page of the app."""

import re
from typing import Any

from playwright.sync_api import TimeoutError as StillWaiting

TRIES = 4
TRY_MILLISECONDS = 12_000.0
"""How long one try may take, but for the last, which takes as long as any wait."""


def first_stage(page: Any, side: str, stage: str) -> None:
    """Move the slider of one side's stages to the first, until the address says so.

    What the page makes anew at that moment does not hear a key, and a slider that is there already
    says nothing of it: it is moved to its end first.
    """
    slider = page.get_by_role("slider", name=f"Stage on the {side}")
    wanted = re.compile(re.escape(f"{side}_stage={stage}"))
    for _ in range(TRIES):
        slider.press("Home")
        try:
            page.wait_for_url(wanted, timeout=TRY_MILLISECONDS)
        except StillWaiting:
            slider.press("End")
            continue
        return
    slider.press("Home")
    page.wait_for_url(wanted)
