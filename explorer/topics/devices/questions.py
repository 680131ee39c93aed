"""What is measured of devices: four questions to each framework, and cases put to each engine."""

from explorer.model.engines import STANDARD
from explorer.topics.question import FRAMEWORKS, LOOKED_AT, MINDSPORE_STYLES
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="devices",
    package=__package__,
    title="Devices: where numbers live and how they move",
    question=(
        "What does each framework see here, what moves a tensor, what comes back to the host, and"
        " do devices agree?"
    ),
    default_scenario="dense_mse",
)

SEES = TOPIC.ask("sees", FRAMEWORKS)
LIVES = TOPIC.ask("lives", FRAMEWORKS)
MOVES = TOPIC.ask("moves", FRAMEWORKS, options={"movers": ["to", "move_to", "cpu", "cuda", "npu"]})
HOST = TOPIC.ask("host", FRAMEWORKS)
MATRIX = TOPIC.ask("matrix", STANDARD, scenario=LOOKED_AT)

CONTEXT = TOPIC.ask(
    "context",
    ("mindspore",),
    program="set_context",
    printed="as_printed",
    meant="as_meant",
)
OUTPUTS = TOPIC.ask("outputs", (*MINDSPORE_STYLES, "torch"))
