"""What is measured of schedules: exports, the sequence of each form, the rates that updates use."""

from explorer.topics.question import FRAMEWORKS
from explorer.topics.schedules.counterparts import STEPS, families_by_scheduler, schedules_of
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="schedules",
    package=__package__,
    title="Learning-rate schedules",
    question="Which schedule of one framework gives the rates of which schedule of the other,"
    " and who moves it on?",
)

EXPORTED = TOPIC.ask("names", FRAMEWORKS, program="exported")
LISTS = TOPIC.ask("lists", ("mindspore",), options={"schedules": schedules_of("list")})
CELLS = TOPIC.ask("cells", ("mindspore",), options={"schedules": schedules_of("cell")})
BY_HAND = TOPIC.ask(
    "by_hand",
    FRAMEWORKS,
    options={"steps": STEPS},
    options_of={
        "mindspore": {"schedules": schedules_of("hand")},
        "torch": {"schedules": schedules_of("torch")},
    },
)

LISTED_NAMES = ("StepLR", "MultiStepLR")
"""PyTorch's schedulers that the guide sets opposite MindSpore's piecewise_constant_lr."""

UNMATCHED_NAMES = (
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "OneCycleLR",
    "ReduceLROnPlateau",
    "LambdaLR",
    "MultiplicativeLR",
)
"""PyTorch's schedulers for which the guide has nothing in MindSpore."""

UNMATCHED_FAMILIES = families_by_scheduler((*LISTED_NAMES, *UNMATCHED_NAMES))

UNMATCHED_STEPS = 8
"""How many steps they take: enough for each of them to step, turn or start anew."""

UNMATCHED = TOPIC.ask(
    "unmatched",
    FRAMEWORKS,
    program="by_hand",
    options={"steps": UNMATCHED_STEPS},
    options_of={
        "mindspore": {"schedules": schedules_of("hand", UNMATCHED_FAMILIES.values())},
        "torch": {"schedules": schedules_of("torch", UNMATCHED_FAMILIES.values())},
    },
)

GROUP_RATES = TOPIC.ask("group_rates", FRAMEWORKS)

# The guide's own figures.
PIECEWISE = TOPIC.ask(
    "piecewise",
    ("mindspore",),
    options={"milestone": [2, 5, 10], "learning_rates": [0.1, 0.05, 0.01]},
)
USED = TOPIC.ask("used", FRAMEWORKS, options={"gamma": 0.9, "steps": 5})
