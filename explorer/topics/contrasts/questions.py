"""What all four engines are asked alike: the main case of every shipped scenario, kinks, operators."""

from explorer.scenario.find import names
from explorer.topics.operators.questions import GRADIENTS_AT_KINKS, OPERATOR_GRADIENTS
from explorer.topics.question import FRAMEWORKS, MINDSPORE_STYLES
from explorer.topics.topic import Topic

TOPIC = Topic(name="contrasts", package=__package__)

# Each framework answers for both of its styles: a first look at the net serves both.
MAIN_CASES = {
    name: TOPIC.ask(
        f"main_case.{name}",
        FRAMEWORKS,
        program=dict.fromkeys(FRAMEWORKS, "main_cases:both_styles"),
        scenario=name,
        options_of={framework: {"framework": framework} for framework in FRAMEWORKS},
    )
    for name in names()
}
"""The questions about the shipped scenarios, by name; those modelled on published nets take longer,
and are not asked.
"""

KINKS = tuple(GRADIENTS_AT_KINKS.values())
OPERATORS = OPERATOR_GRADIENTS

ENGINES_ASKED = (*MINDSPORE_STYLES, "torch-graph", "torch-tape")
"""Whose answers are held against each other."""
