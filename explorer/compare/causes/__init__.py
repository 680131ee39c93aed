"""Why two graphs part: what is tried at a divergence, and what of it, or of the recorded values, explains it.

``candidates`` is the table of what can be tried there, ``choice`` says which trial explains it, and
``from_values`` how recorded values follow from one another; ``explanations`` and ``mending`` say what is then
explained of all divergences, and what is seen as if these were mended.
"""
