"""The first page in a real browser: a card is a link, and opens its page without loading the app anew."""

from collections.abc import Iterator
from typing import Any

import pytest

from explorer.web.offered_scenarios import VARIABLE
from tests.support.browsers import watched
from tests.support.scenario_files import written
from tests.support.servers import serving_app

pytestmark = [pytest.mark.browser, pytest.mark.whole]

NAME = "broken_one"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that offers a file which cannot be run: to open it takes no worker."""
    folder = tmp_path_factory.mktemp("scenarios")
    written(folder, "def inputs(:\n", f"{NAME}.py")
    with serving_app({VARIABLE: str(folder)}) as url:
        yield url


@pytest.fixture
def page(app: str, chromium: str) -> Iterator[Any]:
    """The first page, once all of it is there."""
    with watched(chromium, app) as browser:
        browser.page.goto(app)
        browser.page.get_by_role("radiogroup", name="Language").wait_for()
        yield browser.page
        assert browser.errors == []


def test_a_card_opens_its_page_in_the_session_that_there_is(page: Any) -> None:
    page.get_by_text("中文", exact=True).click()
    page.get_by_role("heading", name="场景").wait_for()
    page.evaluate("window.isTheSame = true")
    page.get_by_role("link", name=NAME).click()
    page.wait_for_url(f"**/semantics?*scenario={NAME}*")
    page.get_by_role("alert").filter(has_text="语法错误").wait_for()
    assert page.evaluate("window.isTheSame")
    page.get_by_role("link", name="首页").wait_for()
    page.go_back()
    page.get_by_role("link", name=NAME).wait_for()


def test_all_of_a_card_is_its_link_which_a_new_tab_opens_too(page: Any) -> None:
    link = page.get_by_role("link", name=NAME)
    card = page.locator(".card").filter(has_text=NAME)
    with page.context.expect_page() as opened:
        card.click(modifiers=["Control"], position={"x": 120, "y": 60})
    opened.value.get_by_role("alert").filter(has_text="syntax error").wait_for()
    assert link.is_visible(), "the first page stays as it was"
