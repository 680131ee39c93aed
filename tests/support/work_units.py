"""Which tests run in one process, so that what is costly and shared by them is made once."""

import re
from functools import cache
from pathlib import Path

from explorer.scenario.find import names, real_names
from explorer.topics import TOPICS

SHIPPED = {word: name for name in (*real_names(), *names()) for word in (name, Path(name).name)}
"""The shipped scenarios, by what tests call them: "real/gpt", or "gpt"."""

ON_ONE_SCENARIO = {"align_captured_graphs": "conv_bn_relu_pool"}
"""Files of tests of which those that name no scenario are on this one."""

TRAINED = "tests/compare/training"
"""The folder whose tests share all trainings."""

APART = ("tests/planted/test_planted.py", "tests/test_every_python.py", "tests/test_how_to.py")
"""Files of long tests that share nothing but what workers reply."""

TOPIC_FILES = tuple(name.replace("-", "_") for name in TOPICS)


@cache
def work_unit(test_id: str) -> str:
    """What a test shares: the report on a scenario, the measurements of a topic, else its file.

    A scenario is named by a parameter ("test_x.py::test_y[lstm]") or by the file ("test_lstm.py"),
    a topic by the beginning of a file in tests/topics ("test_tape_life_claims.py"), or of the
    parameter of a test in tests/independent ("test_x[tape-life-23]").
    """
    file, _, test = test_id.partition("::")
    if file.startswith(f"{TRAINED}/"):
        return TRAINED
    if file in APART:
        return test_id
    subject = Path(file).stem.removeprefix("test_")
    for word in (*re.split(r"[][-]", test), subject):
        if word in SHIPPED:
            return SHIPPED[word]
    if subject in ON_ONE_SCENARIO:
        return ON_ONE_SCENARIO[subject]
    if Path(file).parent.name == "independent":
        _, _, subject = test.partition("[")
        subject = subject.replace("-", "_")
    if Path(file).parent.name in {"topics", "independent"}:
        for topic in TOPIC_FILES:
            if subject.startswith(topic):
                return topic
    return file
