"""The study of operators: where equal names hide other defaults, other borders, and other gradients
at a kink.
"""

import msgspec

from explorer.model.measurement import Measurement
from explorer.topics.operators import asked
from explorer.topics.operators.telling import tell
from explorer.topics.question import Target
from explorer.topics.study_records import Study


def measurements(target: Target) -> tuple[Measurement, ...]:
    """Every question of every theme, to everyone who can be asked."""
    tables = (each for each in vars(asked).values() if isinstance(each, dict))
    listed = [each for table in tables for each in table.values() if isinstance(each, Measurement)]
    return tuple(msgspec.structs.replace(each, device=target.device) for each in listed)


STUDY = Study(
    name="operators",
    title="Operators: defaults, borders, initial values, and gradients at kinks",
    question="Where do operators of one name differ between MindSpore, PyTorch and TensorFlow, forward and backward?",
    measurements=measurements,
    tell=tell,
)
