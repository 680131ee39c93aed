"""The engines that every scenario is put to, by name: those of MindSpore and PyTorch."""

from explorer.model.engines import ENGINES as EVERY_ENGINE
from explorer.model.engines import STANDARD

ENGINES = {name: EVERY_ENGINE[name] for name in STANDARD}
