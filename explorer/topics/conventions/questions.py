"""What is asked about conventions: every group, its parties, and the programs that answer."""

from explorer.model.engines import ENGINES, FRAMEWORKS
from explorer.topics.conventions.names import Group
from explorer.topics.operators.kinks import Group as KinkGroup
from explorer.topics.operators.questions import FOUR_ENGINES, GRADIENTS_AT_KINKS
from explorer.topics.question import Question
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="conventions",
    package=__package__,
    title="Conventions: who chooses alike where a framework may choose",
    question="Where a default, a border, or a gradient is a choice: what does each framework give,"
    " and with whom does it go?",
)

CALLERS = (*(name for name in ENGINES if name != "torch-graph"), "torch-func")
"""Who is asked for gradients: AOTAutograd's graph is called as the tape is, torch.func as others are."""

ASKED: dict[Group, Question] = {
    "calls": TOPIC.ask("calls", CALLERS),
    "values": TOPIC.ask("values", FRAMEWORKS),
    "layers": TOPIC.ask("layers", FRAMEWORKS, program="layers:layers"),
    "optimizers": TOPIC.ask("optimizers", FRAMEWORKS, program="optimizers:optimizers"),
    "functional": TOPIC.ask("functional", FRAMEWORKS, program="functional:functional"),
}
"""The question of each group of conventions."""

JOINING = tuple(name for name in ENGINES if name not in FOUR_ENGINES)
"""The engines of the frameworks that join where they are installed."""

KINKS: dict[KinkGroup, Question] = {
    group: TOPIC.share(question.also_of(*JOINING)) for group, question in GRADIENTS_AT_KINKS.items()
}
"""The gradients at kinks, which the study of operators asks of the four engines."""
