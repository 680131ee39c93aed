"""What is measured of MindSpore's cells and PyTorch's modules."""

from explorer.topics.question import FRAMEWORKS, MINDSPORE_STYLES
from explorer.topics.topic import Topic

TOPIC = Topic(name="networks", package=__package__)

STARTING_MODE = TOPIC.ask("starting_mode", FRAMEWORKS)
MODES = TOPIC.ask("modes", FRAMEWORKS)
CONTAINERS = TOPIC.ask("containers", FRAMEWORKS)
PARTS = TOPIC.ask("parts", FRAMEWORKS)
KINDS_OF_DATA = TOPIC.ask("kinds_of_data", FRAMEWORKS)
SLICES = TOPIC.ask("slices", FRAMEWORKS)
NOT_TRAINED = TOPIC.ask("not_trained", MINDSPORE_STYLES)
COMPILATIONS = TOPIC.ask("compilations", ("mindspore",))

LISTINGS = TOPIC.ask("listings", FRAMEWORKS, printed="lines_as_printed", meant="lines_as_meant")
PARAMETERS = TOPIC.ask("parameters", FRAMEWORKS, program="parameters_in")
AMP_LEVEL = TOPIC.ask("amp_level", MINDSPORE_STYLES)
BATCHES = TOPIC.ask("batches", (*MINDSPORE_STYLES, "torch"))
