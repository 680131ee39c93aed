"""All mistakes, by name."""

from tests.planted.language import LANGUAGE
from tests.planted.losses import LOSSES
from tests.planted.vision import VISION

MISTAKES = {
    f"{mistake.scenario}-{mistake.name}": mistake for mistake in (*VISION, *LANGUAGE, *LOSSES)
}
