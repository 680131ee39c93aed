"""The texts of loss scaling: its study and its claims."""

from typing import Final

from explorer.text.language import later
from explorer.words.topics import Template

TEXTS: Final[dict[str, Template]] = {
    # Who scales
    "everybody": later("both frameworks"),
    "scalers": later("{scalers}"),
    "scaler_graph": later("DynamicLossScaler, graph"),
    "scaler_tape": later("DynamicLossScaler, tape"),
    # Columns that several tables have
    "float": later("float"),
    "where": later("where"),
    "scale": later("scale"),
    "step": later("step"),
    "loss_scale": later("loss scale"),
    "mean_error": later("mean relative error"),
    # The sweep over scales
    "lossless": later(
        "In {dtype} no gradient is lost at any scale ({who}; mean relative error {error:.2g})."
    ),
    "lost_by_scale": later(
        "In {dtype} {zero_at_first} of the gradients become zero at scale 2^{first}, and"
        " {overflow_at_last} overflow at 2^{last} ({who}); at 2^{best}, the best,"
        " {zero} are zero and {overflow} overflow (mean relative error {error:.2g})."
    ),
    "losses_title": later("Gradients over 34 powers of two, by scale"),
    "losses_note": later("An element that is zero or not finite counts as wholly wrong."),
    "underflow_to_0": later("underflow to 0"),
    "overflow": later("overflow"),
    "shares_title": later("Gradients lost, by scale"),
    "share": later("share of gradients"),
    "underflow_line": later("underflow, {dtype}, {who}"),
    "overflow_line": later("overflow, {dtype}, {who}"),
    "float_of": later("{dtype} ({who})"),
    "shares_note": later("Nothing is lost in {floats:,}."),
    "error_title": later("Error of the unscaled gradients against float64"),
    "error_line": later("{dtype}, {who}"),
    # A gradient of 1e-8
    "tiny": later(
        "A gradient of 1e-8 is lost in {dtype} without scaling, and is {scaled} with the loss"
        " scaled by 65536; divided by the scale again it is {in_float32} when cast to float32"
        " first, in {dtype} {in_dtype} ({who})."
    ),
    "tiny_title": later("A gradient of 1e-8"),
    "without_scaling": later("without scaling"),
    "scaled_by_65536": later("scaled by 65536"),
    "unscaled_in_that_float": later("unscaled in that float"),
    "unscaled_in_float32": later("unscaled in float32"),
    # The guide's example
    "example_finite": later(
        "Unscaling gives the guide's net the loss {loss} and the gradient {gradient}; scaled by"
        " 1024 they were {scaled_loss} and {scaled_gradient}, all finite ({who})."
    ),
    "example_not_finite": later(
        "Unscaling gives the guide's net the loss {loss} and the gradient {gradient}; scaled by"
        " 1024 they were {scaled_loss} and {scaled_gradient}, not all finite ({who})."
    ),
    "example_title": later("The guide's example, loss scaled by 1024"),
    "scaled_loss": later("scaled loss"),
    "scaled_gradient": later("scaled gradient"),
    "unscaled_loss": later("unscaled loss"),
    "unscaled_gradient": later("unscaled gradient"),
    "all_finite": later("all finite"),
    # The life of a scaler
    "life": later(
        "{scaler} skips {skipped} of {overflows} steps that overflow, and divides its scale by"
        " {factor} after {shrunk}; it grows {grown} times, {on_time} of them after {window}"
        " finite steps in a row ({steps} steps)."
    ),
    "same_scales": later(
        "With the same settings {scalers} have the same scale at {same} of {steps} steps."
    ),
    "after_overflow": later(
        "After an overflow a caller of {who} asks all_finite and skips the step, as above; left"
        " to themselves, {routes:,}."
    ),
    "route_raises": later("{route} raises {error}"),
    "route_steps": later("{route} steps to {weight}"),
    "route_skips": later("{route} skips it"),
    "slope": later("slope"),
    "scale_of": later("scale, {scaler}"),
    "overflow_of": later("overflow, {scaler}"),
    "stepped_of": later("stepped, {scaler}"),
    "life_title": later("The life of a dynamic scaler, step by step"),
    "life_note": later(
        "Factor {factor}, window {window}: the scalers are given the same settings and the same"
        " slopes."
    ),
    "life_chart": later("The scale through training"),
    "life_chart_note": later(
        "A batch {steepest:g} times as steep comes at step {steep_step}, calm ones from step"
        " {calm_step} on."
    ),
    # How low and how high
    "limit_reached": later(
        "Overflow at every step takes the scale of {scaler} from {high} to {low} in {steps} steps,"
        " and it stays there; growth at every step takes it from {start} to {ceiling}."
    ),
    "limit_not_reached": later(
        "Overflow at every step takes the scale of {scaler} from {high} to {low} in {steps} steps,"
        " and it is still falling; growth at every step takes it from {start} to {ceiling}."
    ),
    "limits_title": later("How low and how high a scale goes"),
    "scaler": later("scaler"),
    "what_happens": later("what happens"),
    "scales": later("scales"),
    "overflow_at_every_step": later("overflow at every step"),
    "growth_at_every_step": later("growth at every step"),
    "limits_chart": later("Overflow at every step"),
    # What is finite
    "check_wrong": later("The check for finite gradients is wrong about {cases:;} ({who})."),
    "check_refuses": later(
        "The check for finite gradients refuses {refused} of {pairs} pairs of tensors ({who}):"
        " {error}."
    ),
    "checks_title": later("all_finite, and what GradScaler finds"),
    "gradients": later("gradients"),
    "case": later("{gradients}, {dtype}"),
    "inf": later("inf"),
    "-inf": later("-inf"),
    "nan": later("nan"),
    "finite numbers": later("finite numbers"),
    "zeros": later("zeros"),
    "inf in the last of two tensors": later("inf in the last of two tensors"),
    "the greatest float16": later("the greatest float16"),
    # Unscaling
    "unscaling": later(
        "Scaling and unscaling moves an element of a float32 gradient at most by a relative"
        " {errors:,} ({who})."
    ),
    "error_at_scale": later("{error:.2g} at scale {scale:g}"),
    "unscaling_title": later("Unscaling, and what is refused"),
    "what": later("what"),
    "found": later("found"),
    "greatest_error": later("greatest relative error at scale {scale:g}"),
    "accepted": later("accepted"),
    "a scale below 1": later("a scale below 1"),
    "a factor that is no integer": later("a factor that is no integer"),
    "unscale_ twice before update": later("unscale_ twice before update"),
    "step before any scale": later("step before any scale"),
    # The evidence of claims
    "right_pairs": later("pairs of tensors that the check is right about"),
    "count": later("{count} of {whole}"),
    "count_wrong_about": later("{count} of {whole}, wrong about {cases:,}"),
    "gradscaler_float16": later("GradScaler on float16 gradients"),
    "tiny without": later("gradient of 1e-8 without scaling"),
    "tiny scaled": later("gradient of 1e-8 scaled by 65536"),
    "tiny unscaled there": later("gradient of 1e-8 scaled, and unscaled in float16"),
    "tiny unscaled in float32": later("gradient of 1e-8 scaled, and unscaled in float32"),
    "halving": later("overflows that halve the scale"),
    "growths": later("growths of the scale after a whole window"),
    "all_the_same": later("steps at which all scales are the same"),
    "skipped_by_gradscaler": later("overflowed steps that GradScaler.step skips"),
    "step_by": later("a step after an overflow by {route}"),
    "amp.build_train_network with DynamicLossScaleManager": later(
        "amp.build_train_network with DynamicLossScaleManager"
    ),
    "raises": later("raises {error}"),
    "steps_to": later("steps to {weight}"),
    "skips": later("skips it"),
    # Advice with values
    "leave_to_routes": later("Leave the skipping to {routes:or}, and to GradScaler.step."),
}

ADVICE: Final[dict[tuple[int, str], str]] = {
    (12, "holds"): later(
        "Scale the loss inside the function that you differentiate, and unscale the gradients"
        " before the optimizer."
    ),
    (13, "holds"): later(
        "Ask all_finite of the gradients before each step, and leave the step out when it says"
        " False."
    ),
    (14, "holds"): later(
        "Scale the loss by a power of two and unscale the gradients before the step."
    ),
    (14, "cast to float32"): later(
        "Scale the loss, and cast the gradients to float32 before you unscale: unscaling in"
        " float16 loses them again or is refused."
    ),
    (15, "holds_with_changes"): later(
        "In MindSpore skip the step yourself when all_finite is False, then adjust;"
        " GradScaler.step skips by itself."
    ),
}
