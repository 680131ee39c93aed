"""The mistakes in the nets of ``nets``, by name, each with what is wrong as facts."""

from tests.planted.images import IMAGES
from tests.planted.objectives import OBJECTIVES
from tests.planted.sequences import SEQUENCES

LIBRARY = {
    f"{mistake.scenario}-{mistake.name}": mistake for mistake in (*IMAGES, *SEQUENCES, *OBJECTIVES)
}
