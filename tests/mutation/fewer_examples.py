"""A pytest plugin: properties are tried on few examples, the same ones for every mutant."""

from hypothesis import settings

settings.register_profile(
    "mutants", max_examples=20, database=None, deadline=None, derandomize=True
)
settings.load_profile("mutants")
