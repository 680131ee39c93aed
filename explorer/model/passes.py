"""The passes of MindSpore's compiler after which a gradient graph is captured, and their names."""

import msgspec


class CompilerPass(msgspec.Struct, frozen=True):
    """One pass.

    ``stage`` is what a graph that was captured after it calls its stage; ``file`` is what MindSpore
    calls it in MS_DEV_DUMP_IR_PASSES and in the names of files.
    """

    stage: str
    file: str


TYPED = CompilerPass("type_inference", "type_inference")
EXPANDED = CompilerPass("opt_a", "opt_pass_2_opt_a")
FINAL = CompilerPass("validate", "validate")

PASSES = (TYPED, EXPANDED, FINAL)
"""The program as written, with its gradient expanded, and as it is handed to the kernels (2.10.0)."""

BEFORE = {EXPANDED.stage: TYPED.stage, FINAL.stage: EXPANDED.stage}
"""The stage before each, of those that a pass makes of each other."""
