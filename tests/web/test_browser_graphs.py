"""Two graphs in a real browser, on a made net: what a person does with the mouse and the keyboard."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.support.browsers import AT_REST, Watched
from tests.support.deep_nets import LINE, SPOILED, deep_net
from tests.support.servers import SWITCHES, serving_graphs

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.whole]

BLOCKS = 3
MILLISECONDS = 60_000
SOURCE = (
    "import x\n\ndef net(x, w):\n    # a block\n    product = x @ w  # <img src=x>\n    y\n    z\n"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of the page on a net of blocks whose first product is wrong on the right."""
    folder = tmp_path_factory.mktemp("net")
    (folder / "net.py").write_text(SOURCE)
    with serving_graphs(BLOCKS, SPOILED, str(folder)) as url:
        yield url


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """One browser for all tests; each has a page of its own."""
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        yield opened
        opened.close()


class Graphs:
    """The page of graphs in a browser."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.left = page.locator(".pane[data-side=left]")
        self.right = page.locator(".pane[data-side=right]")
        self.panel = page.locator(".panel")
        self.fingers = page.context.new_cdp_session(page)

    def open(self, query: str = "depth=all") -> None:
        """Open the page with a query, and wait for both drawings."""
        self.page.goto(f"{self.address}/?{query}")
        for pane in (self.left, self.right):
            pane.locator(".pick").first.wait_for()

    def address_has(self, part: str) -> None:
        """Wait until the address has a part of a query."""
        self.page.wait_for_url(re.compile(re.escape(part)))

    def touch(self, kind: str, middle: tuple[float, float], reach: float) -> None:
        """Two fingers about a point, each ``reach`` pixels from it; without a reach they lift."""
        points = []
        for finger, side in enumerate((-1, 1) if reach else ()):
            points.append({"x": middle[0] + side * reach, "y": middle[1], "id": finger})
        self.fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def node(self, op: str, place: int = 0) -> Any:
        """A node of the left graph."""
        return self.left.locator(f".pick[data-op='{op}']").nth(place)

    def scale(self, pane: Any) -> float:
        """How large a pane shows its drawing."""
        script = "pane => pane.clientWidth / pane.querySelector('svg').viewBox.baseVal.width"
        return float(pane.evaluate(script))

    def in_sight(self, pane: Any) -> dict[str, float]:
        """The part of a drawing that a pane shows, beside the height of the whole."""
        script = """pane => {
          const { y, height } = pane.querySelector('svg').viewBox.baseVal
          const map = pane.querySelector('.minimap').viewBox.baseVal
          return { y: y - map.y, height, whole: map.height }
        }"""
        return dict(pane.evaluate(script))

    def off(self, pane: Any) -> int:
        """How many nodes are dimmed."""
        return int(pane.locator(".pick.off").count())


@pytest.fixture
def graphs(address: str, browser: Any) -> Iterator[Graphs]:
    """A fresh page; at the end, nothing may have gone wrong in it, nor was another host asked."""
    page = browser.new_page(viewport={"width": 1400, "height": 1200})
    page.set_default_timeout(MILLISECONDS)
    expect.set_options(timeout=MILLISECONDS)
    seen = Watched(page, urlsplit(address).netloc)
    yield Graphs(page, address)
    seen.assert_unharmed()
    page.close()


@pytest.mark.sample
def test_a_click_shows_the_node_its_code_its_values_and_where_the_other_differs(
    graphs: Graphs,
) -> None:
    graphs.open()
    graphs.node("aten.mm").click()
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("aten.mm")
    expect(graphs.panel.locator("[data-card=right] h3")).to_have_text("MatMul")
    own = graphs.panel.locator("[data-card=left] .source .own")
    expect(own).to_contain_text(f"{LINE}  product = x @ w  # <img src=x>")
    expect(graphs.panel.locator("[data-card=left] canvas")).to_have_count(1)
    expect(graphs.panel.locator(".difference")).to_contain_text("Greatest difference")
    for pane in (graphs.left, graphs.right):
        expect(pane.locator(".frame.chosen")).to_have_count(1)
    graphs.address_has("node=left%3A")
    # The forward node of a backward one is a click away.
    graphs.node("aten.tanh_backward").click()
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("aten.tanh_backward")
    graphs.panel.locator("[data-card=left] .link").click()
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("aten.tanh")


def test_a_link_opens_what_was_chosen_and_the_way_back_leads_to_what_was_before(
    graphs: Graphs,
) -> None:
    graphs.open("depth=all&node=left:n0&only=unpaired&step=9&view=flow")
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("x · input")
    expect(graphs.page.locator("[data-only]")).to_have_value("unpaired")
    expect(graphs.page.locator(".step")).to_have_value("9")
    expect(graphs.left.locator("svg .h")).to_have_count(0)  # a flow has no headings of columns
    graphs.node("aten.mm", 1).click()
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("aten.mm")
    graphs.page.wait_for_url(lambda url: "node=left%3A" in url and "n0" not in url)
    graphs.page.go_back()
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("x · input")
    graphs.page.go_forward()
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("aten.mm")


def test_a_module_is_opened_and_folded_in_place_and_the_address_says_which(graphs: Graphs) -> None:
    graphs.open("depth=2")
    folded = graphs.left.locator(".pick").count()
    graphs.page.get_by_role("button", name="Zoom in").click(click_count=2)
    scale = graphs.scale(graphs.left)
    graphs.left.get_by_role("button", name="Open module blocks.1").first.press("Enter")
    graphs.address_has("opened=blocks.1")
    expect(graphs.left.locator(".pick[data-op='aten.tanh']")).to_have_count(1)
    expect(graphs.right.locator(".pick[data-op='Tanh']")).to_have_count(1)
    assert graphs.left.locator(".pick").count() > folded
    assert graphs.scale(graphs.left) == pytest.approx(scale)
    graphs.left.get_by_role("button", name="Fold module blocks.1").first.click()
    graphs.address_has("folded=blocks.1")
    expect(graphs.left.locator(".pick")).to_have_count(folded)


def test_hovering_lights_the_partner_and_the_path_and_asks_nobody(graphs: Graphs) -> None:
    graphs.open()
    graphs.page.wait_for_timeout(1500)  # what was still on its way has arrived
    sent: list[str] = []
    graphs.page.on(
        "websocket", lambda socket: socket.on("framesent", lambda frame: sent.append("frame"))
    )
    graphs.left.locator(".pick[data-op=output][data-phase=forward]").hover()
    expect(graphs.right.locator(".frame.pale, .frame.chosen")).to_have_count(0)
    expect(graphs.left.locator(".frame.pale")).to_have_count(1)
    # All products lead to the output; no node of the backward does.
    lit = graphs.left.locator(".pick.path")
    expect(lit.and_(graphs.left.locator("[data-op='aten.mm'][data-phase=forward]"))).to_have_count(
        BLOCKS
    )
    expect(lit.and_(graphs.left.locator("[data-phase=backward]"))).to_have_count(0)
    # Every edge of the net's own chain: from x and each block to the next, and to the output.
    wires = graphs.left.locator(".wire.path")
    expect(wires).to_have_count(5 * BLOCKS + 1)
    graphs.left.locator(".pick[data-op=input]").hover()
    expect(graphs.right.locator(".frame.pale")).to_have_count(1)
    assert sent == []
    # What the pointer lit goes out when it leaves the pane.
    graphs.page.mouse.move(2, 2)
    for pane in (graphs.left, graphs.right):
        expect(pane.locator(".frame.pale, .path")).to_have_count(0)


def test_the_slider_dims_what_has_not_run_and_playing_goes_on_to_the_end(graphs: Graphs) -> None:
    graphs.open("depth=all&step=4")
    whole = len(deep_net("torch-tape", BLOCKS).nodes)
    for pane in (graphs.left, graphs.right):
        expect(pane.locator(".pick.off")).to_have_count(whole - 4)
        expect(pane.locator(".frame.now")).to_have_count(1)
    expect(graphs.page.locator(".now-text")).to_contain_text("the tape is written")
    graphs.page.locator(".step").fill(str(whole - 2))
    expect(graphs.left.locator(".pick.off")).to_have_count(2)
    expect(graphs.page.locator(".now-text")).to_contain_text("the tape is unwound")
    graphs.address_has(f"step={whole - 2}")
    graphs.page.get_by_role("button", name="Play the execution").click()
    expect(graphs.left.locator(".pick.off")).to_have_count(0)
    expect(graphs.page.get_by_role("button", name="Play the execution")).to_be_visible()
    graphs.address_has(f"step={whole}")


def test_filters_dim_what_is_equal_and_the_first_divergence_is_a_click_or_a_key_away(
    graphs: Graphs,
) -> None:
    graphs.open()
    graphs.page.locator("[data-only]").select_option("differs")
    expect(graphs.page.locator(".found")).to_contain_text("nodes differ")
    assert not has_class(graphs.node("aten.mm"), "off")
    assert has_class(graphs.left.locator(".pick[data-op=input]"), "off")
    graphs.address_has("only=differs")
    graphs.page.locator("[data-only]").select_option("")
    expect(graphs.left.locator(".pick.off")).to_have_count(0)
    graphs.page.get_by_role("button", name="First divergence").click()
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("aten.mm")
    assert has_class(graphs.left.locator(".pick.diverges"), "node")
    graphs.left.focus()
    graphs.page.keyboard.press("Escape")
    expect(graphs.page.locator(".frame.chosen")).to_have_count(0)
    graphs.page.keyboard.press("n")
    expect(graphs.panel.locator("[data-card=right] h3")).to_have_text("MatMul")


def has_class(locator: Any, name: str) -> bool:
    return name in (locator.get_attribute("class") or "").split()


@pytest.mark.sample
def test_the_keyboard_moves_between_nodes_chooses_searches_and_plays(graphs: Graphs) -> None:
    graphs.open("depth=all&node=left:n0")
    expect(graphs.left.locator(".frame.chosen")).to_have_count(1)
    graphs.left.focus()
    graphs.page.keyboard.press("ArrowRight")
    # What is under the cursor is said to those who do not see it.
    expect(graphs.page.locator(".cursor[role=status]")).to_have_text("aten.mm")
    graphs.page.keyboard.press("Enter")
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("aten.mm")
    graphs.page.keyboard.press("/")
    graphs.page.keyboard.type("NH_back")  # in the middle of its name, whatever its case
    expect(graphs.page.locator(".found")).to_have_text(f"{BLOCKS} found")
    graphs.page.keyboard.press("Enter")
    expect(graphs.panel.locator("[data-card=left] h3")).to_have_text("aten.tanh_backward")
    graphs.page.get_by_role("searchbox", name="Find nodes").press("Escape")
    expect(graphs.page.locator(".found")).to_have_text("")
    graphs.left.focus()
    graphs.page.keyboard.press(" ")
    expect(graphs.page.get_by_role("button", name="Pause")).to_be_visible()
    graphs.page.keyboard.press(" ")
    expect(graphs.page.get_by_role("button", name="Play the execution")).to_be_visible()


def test_arrows_move_to_the_node_that_stands_there(graphs: Graphs) -> None:
    graphs.open("depth=all&view=flow&node=left:n2")
    chosen = graphs.left.locator(".frame.chosen")
    expect(chosen).to_have_count(1)
    graphs.left.focus()
    cursor = graphs.left.locator(".frame.pale")
    places = []
    for key in ("ArrowDown", "ArrowUp"):
        graphs.page.keyboard.press(key)
        expect(cursor).to_have_count(1)
        # Both are measured at once: a node out of sight is brought into the middle.
        places.append(cursor.bounding_box()["y"] - chosen.bounding_box()["y"])
    assert places[0] > 0
    assert places[1] < places[0]


def test_keys_step_through_the_execution_and_do_nothing_while_a_word_is_typed(
    graphs: Graphs,
) -> None:
    graphs.open("depth=all&step=4")
    step = graphs.page.locator(".step")
    graphs.left.focus()
    graphs.page.keyboard.press(".")
    expect(step).to_have_value("5")
    graphs.page.keyboard.press(",")
    graphs.page.keyboard.press(",")
    expect(step).to_have_value("3")
    graphs.address_has("step=3")
    field = graphs.page.get_by_role("searchbox", name="Find nodes")
    field.press_sequentially("n. ")
    expect(field).to_have_value("n. ")
    expect(step).to_have_value("3")
    expect(graphs.page.locator(".frame.chosen")).to_have_count(0)


def test_both_graphs_are_fitted_at_first_and_panes_follow_until_that_is_switched_off(
    graphs: Graphs,
) -> None:
    graphs.open()
    scales = graphs.scale(graphs.left), graphs.scale(graphs.right)
    assert min(scales) >= 0.4
    graphs.node("aten.mm").hover()
    graphs.page.mouse.wheel(0, -200)
    assert graphs.scale(graphs.left) > scales[0]
    assert graphs.scale(graphs.right) > scales[1]
    before = graphs.scale(graphs.right)
    graphs.page.locator("[data-follow]").uncheck()
    graphs.page.mouse.wheel(0, -200)
    graphs.node("aten.mm").hover()
    graphs.page.mouse.wheel(0, -200)
    assert graphs.scale(graphs.right) == before
    graphs.address_has("follow=off")


def test_two_fingers_zoom_about_what_lies_between_them(graphs: Graphs) -> None:
    graphs.open()
    scale = graphs.scale(graphs.left)
    node = graphs.node("aten.mm").bounding_box()
    middle = (node["x"] + node["width"] / 2, node["y"] + node["height"] / 2)
    graphs.touch("touchStart", middle, 20)
    for reach in (30, 40):
        graphs.touch("touchMove", middle, reach)
    graphs.touch("touchEnd", middle, 0)
    assert graphs.scale(graphs.left) == pytest.approx(2 * scale, rel=0.02)
    after = graphs.node("aten.mm").bounding_box()
    place = (after["x"] + after["width"] / 2, after["y"] + after["height"] / 2)
    assert place == pytest.approx(middle, abs=4)
    expect(graphs.left.locator(".frame.chosen")).to_have_count(0)


def test_the_partner_stands_where_the_node_does(graphs: Graphs) -> None:
    graphs.open("depth=all&view=ladder")
    graphs.left.locator(".pick[data-op=input]").click()
    graphs.page.mouse.move(700, 700)
    graphs.page.get_by_role("button", name="Zoom in").click()
    places = []
    for pane in (graphs.left, graphs.right):
        frame, around = pane.locator(".frame.chosen").bounding_box(), pane.bounding_box()
        places.append((frame["x"] - around["x"], frame["y"] - around["y"]))
    assert places[0] == pytest.approx(places[1], abs=6)


def test_a_stage_that_is_chosen_in_the_moment_in_which_the_drawings_report_is_shown(
    graphs: Graphs,
) -> None:
    # The browser sends both as one message, which asks for the drawings alone.
    fragments: list[str] = []

    def joined(message: bytes) -> bytes:
        asked = BackMsg.FromString(message)
        rerun = asked.rerun_script
        if rerun.fragment_id:
            fragments.append(rerun.fragment_id)
        elif fragments and asked.WhichOneof("type") == "rerun_script":
            rerun.fragment_id = fragments[0]
        return bytes(asked.SerializeToString())

    def routed(socket: Any) -> None:
        server = socket.connect_to_server()
        socket.on_message(lambda message: server.send(joined(message)))

    graphs.page.route_web_socket(re.compile("_stcore/stream"), routed)
    graphs.open("depth=all&left=mindspore-graph&right=torch-tape")
    graphs.page.locator(".pane[data-side=left] .pick").first.click()
    for _ in range(MILLISECONDS // 100):  # until the drawings have reported
        if not fragments:
            graphs.page.wait_for_timeout(100)
    assert fragments
    graphs.page.locator(AT_REST).wait_for()
    graphs.page.get_by_role("slider", name="Stage on the left").press("Home")
    graphs.address_has("left_stage=opt_a")
    expect(graphs.page.get_by_role("figure", name="opt_a")).to_be_visible()


def test_on_a_phone_the_panes_stand_under_each_other_and_nothing_sticks_out(graphs: Graphs) -> None:
    graphs.page.set_viewport_size({"width": 390, "height": 900})
    graphs.open("depth=2&node=left:n0")
    graphs.page.get_by_role("button", name="Controls").click()
    boxes = [pane.bounding_box() for pane in (graphs.left, graphs.right)]
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]
    # Drawings are cut at their panes; everything else must fit, or the page could be moved aside.
    main = graphs.page.locator(".stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    for element in (graphs.left, graphs.right, graphs.panel, graphs.page.locator(".step")):
        box = element.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    cards = [
        graphs.panel.locator(f"[data-card={side}]").bounding_box() for side in ("left", "right")
    ]
    assert cards[1]["y"] >= cards[0]["y"] + cards[0]["height"]


def test_two_small_graphs_are_in_the_first_screen_and_a_button_has_what_is_rarely_chosen(
    graphs: Graphs,
) -> None:
    graphs.page.set_viewport_size({"width": 1400, "height": 900})
    graphs.open("depth=1")
    left, right = (pane.bounding_box() for pane in (graphs.left, graphs.right))
    assert left["y"] == pytest.approx(right["y"], abs=1)
    assert right["x"] >= left["x"] + left["width"]
    assert left["y"] < 900 / 2
    assert graphs.scale(graphs.left) >= 0.6
    view = graphs.page.get_by_role("combobox", name="View")
    expect(view).to_have_count(0)
    graphs.page.get_by_role("button", name="More").click()
    view.click()
    graphs.page.get_by_role("option", name="flow", exact=True).click()
    graphs.address_has("view=flow")


def test_a_large_graph_has_a_map_that_moves_it(graphs: Graphs) -> None:
    graphs.open("depth=all&view=flow")
    graphs.page.get_by_role("button", name="Zoom in").click(click_count=6)
    area = graphs.left.locator(".minimap")
    expect(area).to_be_visible()
    box = area.bounding_box()
    seen = []
    for height in (0.25, 0.75):
        graphs.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + height * box["height"])
        seen.append(graphs.in_sight(graphs.left))
    whole = seen[0]["whole"]
    # The middle of what is seen is where the map was clicked.
    for height, part in zip((0.25, 0.75), seen, strict=True):
        assert part["y"] + part["height"] / 2 == pytest.approx(height * whole, abs=0.03 * whole)
    graphs.page.mouse.down()
    graphs.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    graphs.page.mouse.up()
    dragged = graphs.in_sight(graphs.left)
    assert dragged["y"] + dragged["height"] / 2 == pytest.approx(whole / 2, abs=0.03 * whole)
    graphs.page.get_by_role("button", name="Fit").click()
    expect(area).to_be_hidden()
