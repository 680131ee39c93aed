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
    "float": later("dtype"),
    "where": later("framework"),
    "scale": later("scale"),
    "step": later("step"),
    "loss_scale": later("loss scale"),
    "mean_error": later("mean relative error"),
    # The sweep over scales
    "lossless": later(
        "In {dtype}, no gradient is lost at any loss scale ({who}; mean relative error"
        " {error:.2g})."
    ),
    "lost_by_scale": later(
        "In {dtype}, {zero_at_first} of the gradients underflow to 0 at a loss scale of"
        " 2^{first}, and {overflow_at_last} overflow at 2^{last}. The best scale is 2^{best}:"
        " {zero} underflow, {overflow} overflow, and the mean relative error is {error:.2g}"
        " ({who})."
    ),
    "losses_title": later("What a loss scale saves: gradients whose sizes span 34 powers of two"),
    "losses_note": later(
        "Shares are of all gradient elements, 1 being all of them. The error is that of the"
        " unscaled gradients against float64; an element that is 0 or not finite has an error"
        " of 1."
    ),
    "underflow_to_0": later("share that underflows to 0"),
    "overflow": later("share that overflows"),
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
        "In {dtype}, a gradient of 1e-8 becomes 0 without scaling. With the loss scaled by"
        " 65536 it is {scaled}; dividing it by 65536 again gives {in_float32} in float32, and"
        " in {dtype} {in_dtype} ({who})."
    ),
    "tiny_title": later(
        "A gradient of 1e-8, a product of two numbers of 1e-4, without and with a loss scaled by 65536"
    ),
    "without_scaling": later("without scaling"),
    "scaled_by_65536": later("with the loss scaled"),
    "unscaled_in_that_float": later("divided by 65536 in that dtype"),
    "unscaled_in_float32": later("divided by 65536 in float32"),
    # The guide's example
    "example_finite": later(
        "With its loss scaled by 1024, the guide's net has the loss {scaled_loss} and the"
        " gradient {scaled_gradient}, all finite; unscaled they are {loss} and {gradient}"
        " ({who})."
    ),
    "example_not_finite": later(
        "With its loss scaled by 1024, the guide's net has the loss {scaled_loss} and the"
        " gradient {scaled_gradient}, not all finite; unscaled they are {loss} and {gradient}"
        " ({who})."
    ),
    "example_title": later("The guide's net, with its loss scaled by 1024"),
    "scaled_loss": later("scaled loss"),
    "scaled_gradient": later("scaled gradient"),
    "unscaled_loss": later("unscaled loss"),
    "unscaled_gradient": later("unscaled gradient"),
    "all_finite": later("all finite"),
    # The life of a scaler
    "life": later(
        "{scaler}: of {steps} steps, {overflows} overflow. It skips {skipped} of them, and"
        " divides its scale by {factor} after {shrunk}. The scale grows {grown} times,"
        " {on_time} of them after {window} finite steps in a row."
    ),
    "same_scales": later(
        "With the same settings, {scalers} have the same scale at {same} of {steps} steps."
    ),
    "after_overflow": later(
        "After an overflow, code in {who} has to check all_finite and skip the step itself,"
        " as above. Without that check, {routes:,}."
    ),
    "route_raises": later("{route} raises {error}"),
    "route_steps": later("{route} updates the weight to {weight}"),
    "route_skips": later("{route} skips the step"),
    "slope": later("gradient"),
    "scale_of": later("{scaler} scale"),
    "overflow_of": later("{scaler} overflow"),
    "stepped_of": later("{scaler} updates"),
    "life_title": later("A dynamic scaler, step by step"),
    "life_note": later(
        "The gradient is the one before scaling, the same for all scalers. They have the same"
        " settings: after an overflow they divide the scale by {factor}, after {window} finite"
        " steps in a row they multiply it by {factor}."
    ),
    "life_chart": later("The scale through training"),
    "life_chart_note": later(
        "The gradient is {steepest:g} times as large at step {steep_step}, and smaller from"
        " step {calm_step} on."
    ),
    # How low and how high
    "limit_reached": later(
        "With an overflow at every step, the scale of {scaler} falls from {high} to {low}"
        " within {steps} steps and then stays there; with a growth at every step, it rises"
        " from {start} to {ceiling}."
    ),
    "limit_not_reached": later(
        "With an overflow at every step, the scale of {scaler} falls from {high} to {low} in"
        " {steps} steps and goes on falling; with a growth at every step, it rises from"
        " {start} to {ceiling}."
    ),
    "limits_title": later("How far a scale falls and rises"),
    "scaler": later("scaler"),
    "what_happens": later("at every step"),
    "scales": later("scale after each step"),
    "overflow_at_every_step": later("overflow"),
    "growth_at_every_step": later("growth"),
    "limits_chart": later("Overflow at every step"),
    # What is finite
    "check_wrong": later("The check for finite gradients is wrong about {cases:;} ({who})."),
    "check_refuses": later(
        "The check for finite gradients refuses {refused} of {pairs} pairs of tensors ({who}):"
        " {error}."
    ),
    "checks_title": later("Are all gradients finite? What all_finite and GradScaler answer"),
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
        "Scaling and unscaling changes an element of a float32 gradient by a relative error"
        " of at most {errors:,} ({who})."
    ),
    "error_at_scale": later("{error:.2g} at scale {scale:g}"),
    "unscaling_title": later("The error of unscaling in float32, and calls that are refused"),
    "what": later("measurement or call"),
    "found": later("result"),
    "greatest_error": later("greatest relative error at scale {scale:g}"),
    "accepted": later("accepted"),
    "a scale below 1": later("a scale below 1"),
    "a factor that is no integer": later("a factor that is not an integer"),
    "unscale_ twice before update": later("unscale_ twice before update"),
    "step before any scale": later("step before any scale"),
    # The evidence of claims
    "right_pairs": later("pairs of tensors that the check is right about"),
    "count": later("{count} of {whole}"),
    "count_wrong_about": later("{count} of {whole}, wrong about {cases:,}"),
    "gradscaler_float16": later("GradScaler on float16 gradients"),
    "tiny without": later("gradient of 1e-8 without scaling"),
    "tiny scaled": later("gradient of 1e-8, a product of two numbers of 1e-4, scaled by 65536"),
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
    # What overflows
    "not_finite": later("not finite"),
    "gradient_of": later("{gradient:g}"),
    "without_scale": later("float16 gradient of x² at 40"),
    "with_scale": later("the same, the loss scaled by 1024"),
    "loss_in_half": later("float16 loss 300 · 300 · x at 0.01"),
    "its_gradient": later("its gradient"),
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
    (15, "holds"): later(
        "In MindSpore skip the step yourself when all_finite is False, then adjust;"
        " GradScaler.step skips by itself."
    ),
    (86, "makes overflow"): later(
        "Scale against underflow. Against overflow take a smaller scale: a dynamic scaler lowers it."
    ),
    (94, "ask gradients"): later(
        "Ask all_finite of the gradients: a loss that looks sound may have infinite ones."
    ),
}
