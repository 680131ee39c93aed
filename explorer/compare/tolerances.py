"""The tolerances of the frameworks' own tables as (rtol, atol), and units of rounding, by dtype."""

TORCH_TABLE = {
    "float64": (1e-7, 1e-7),
    "float32": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
}
"""The table of torch.testing.assert_close."""

MINDSPORE_TABLE = {
    "float64": (1e-5, 1e-5),
    "float32": (1e-4, 1e-4),
    "float16": (1e-3, 1e-3),
    "bfloat16": (1.6e-2, 4e-3),
}
"""MindSpore's own table, element by element."""

CENTRAL = (1e-3, 1e-5)
"""(rtol, share of the scale) of an engine beside central differences of step 1e-6."""

EXACT = (0.0, 0.0)
"""(rtol, atol) of integers and booleans."""

COARSE = {"float16": TORCH_TABLE["float16"][0], "bfloat16": TORCH_TABLE["bfloat16"][0]}
"""The rtol of values that passed through a dtype coarser than float32, whatever their own is."""
