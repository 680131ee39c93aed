"""Points at which a derivative is a choice: what they are called, and the inputs that hit them; no
framework here.
"""

import math
from typing import Any, Literal

import msgspec

Group = Literal["corners", "ties", "steep", "dead"]
GROUPS: dict[Group, str] = {
    "corners": "Corners: the slope jumps",
    "ties": "Ties: several elements are the greatest",
    "steep": "Steep or undefined: the slope is infinite, or there is none",
    "dead": "Dead branches and NaN: what is not taken, or not a number",
}


class Kink(msgspec.Struct, frozen=True):
    """One kink: ``name`` is its function in both modules of kink functions, ``inputs`` are nested
    lists of float32 numbers.
    """

    name: str
    where: str
    group: Group
    inputs: tuple[Any, ...]


KINKS = (
    Kink("relu", "relu at 0", "corners", ([0],)),
    Kink("relu_by_maximum", "relu written maximum(x, 0), at 0", "corners", ([0],)),
    Kink("relu_by_clamp", "relu written clamp(x, min=0), at 0", "corners", ([0],)),
    Kink("relu_by_where", "relu written where(x > 0, x, 0), at 0", "corners", ([0],)),
    Kink("relu6", "relu6 at 0 and 6", "corners", ([0, 6],)),
    Kink("leaky_relu", "leaky relu (slope 0.1) at 0", "corners", ([0],)),
    Kink("absolute", "abs at 0", "corners", ([0],)),
    Kink("clamp", "clamp to [0, 1] at both bounds", "corners", ([0, 1],)),
    Kink("hardtanh", "hardtanh at -1 and 1", "corners", ([-1, 1],)),
    Kink("hardsigmoid", "hardsigmoid at -3 and 3", "corners", ([-3, 3],)),
    Kink("hardswish", "hardswish at -3 and 3", "corners", ([-3, 3],)),
    Kink("softshrink", "softshrink (0.5) at -0.5 and 0.5", "corners", ([-0.5, 0.5],)),
    Kink("hardshrink", "hardshrink (0.5) at -0.5 and 0.5", "corners", ([-0.5, 0.5],)),
    Kink("sign", "sign at 0", "corners", ([0],)),
    Kink("floor", "floor at 1", "corners", ([1],)),
    Kink("l1_loss", "L1 loss of equal numbers", "corners", ([1], [1])),
    Kink("norm_one", "1-norm with a zero in it", "corners", ([0, 1],)),
    Kink("maximum", "maximum of two equal numbers", "ties", ([1], [1])),
    Kink("minimum", "minimum of two equal numbers", "ties", ([1], [1])),
    Kink("max_of_all", "x.max() with two greatest", "ties", ([1, 1, 0],)),
    Kink("max_along_axis", "max along an axis with two greatest", "ties", ([1, 1, 0],)),
    Kink("amax", "amax with two greatest", "ties", ([1, 1, 0],)),
    Kink("max_pool", "2x2 max pool of equal numbers", "ties", ([[[[1, 1], [1, 1]]]],)),
    Kink("median", "median of equal numbers", "ties", ([1, 1, 1],)),
    Kink("topk", "topk(1) with two greatest", "ties", ([1, 1, 0],)),
    Kink("cummax", "cummax with two greatest", "ties", ([1, 1, 0],)),
    Kink("norm_inf", "infinity norm with two greatest", "ties", ([1, 1, 0],)),
    Kink("sqrt", "sqrt at 0", "steep", ([0],)),
    Kink("power_half", "x ** 0.5 at 0", "steep", ([0],)),
    Kink("power_zero", "x ** 0.0 at 0", "steep", ([0],)),
    Kink("power_of_zero", "pow(0, y) at y = 0 and 2", "steep", ([0, 0], [0, 2])),
    Kink("log", "log at 0", "steep", ([0],)),
    Kink("arccos", "acos at 1", "steep", ([1],)),
    Kink("norm", "norm of the zero vector", "steep", ([0, 0],)),
    Kink("norm_by_hand", "sqrt(sum(x * x)) of the zero vector", "steep", ([0, 0],)),
    Kink("std", "std of equal numbers", "steep", ([1, 1],)),
    Kink("atan2", "atan2 at (0, 0)", "steep", ([0], [0])),
    Kink("xlogy", "xlogy at (0, 0)", "steep", ([0], [0])),
    Kink("cosine_similarity", "cosine similarity with the zero vector", "steep", ([0, 0], [1, 1])),
    Kink("product", "prod with a zero in it", "steep", ([0, 2, 3],)),
    Kink("self_division", "x / x at 0", "steep", ([0],)),
    Kink("where_log", "where(x > 0, log(x), 0) at 0 and 1", "dead", ([0, 1],)),
    Kink("where_sqrt", "where(x > 0, sqrt(x), 0) at 0 and 1", "dead", ([0, 1],)),
    Kink("where_divide", "where(x != 0, 1 / x, 0) at 0 and 1", "dead", ([0, 1],)),
    Kink("where_twice", "where outside and inside the log, at 0 and 1", "dead", ([0, 1],)),
    Kink("masked_fill", "log masked where x <= 0, at 0 and 1", "dead", ([0, 1],)),
    Kink("times_zero", "sqrt(x) * 0 at 0 and 1", "dead", ([0, 1],)),
    Kink("nan_to_num", "nan_to_num(log(x) * x) at 0 and 1", "dead", ([0, 1],)),
    Kink("branch", "if x.sum() > 0: log(x), else zeros, at 0", "dead", ([0],)),
    Kink("clamp_then_log", "log(clamp(x, min=1e-6)) at 0 and 1", "dead", ([0, 1],)),
    Kink("relu_of_nan", "relu of NaN", "dead", ([math.nan],)),
    Kink("clamp_of_nan", "clamp of NaN", "dead", ([math.nan],)),
    Kink("max_with_nan", "maximum of NaN and 1", "dead", ([math.nan], [1])),
)
"""Every function here takes its inputs and returns one tensor, which is summed before it is
differentiated.
"""
