"""Mistakes in shipped nets that were written before the search for causes was run on any of them.

They are in nets that no other mistake of ``tests/planted/shipped.py`` is in, and were written without
a look at how divergences are found and explained: they measure the search on what it was not made with.
"""

from tests.planted.facts import Fact
from tests.planted.mistake import Mistake

IN_JAX = (
    Mistake(
        "backwards_not_reversed",
        "bidirectional_lstm",
        "jax",
        "x.swapaxes(0, 1), reverse=reverse)",
        "x.swapaxes(0, 1))",
        ("_, (hidden, _) = self.lstm(x)",),
        facts=(
            Fact("steps"),
            Fact("argument", argument="reverse", values=(False, True)),
            Fact("op left out", op="flip"),
            Fact("rows in another order"),
        ),
    ),
    Mistake(
        "memory_not_squashed",
        "conv_lstm",
        "jax",
        "h = jax.nn.sigmoid(o) * jnp.tanh(c)",
        "h = jax.nn.sigmoid(o) * c",
        ("h = torch.sigmoid(o) * torch.tanh(c)", "h = ops.sigmoid(o) * ops.tanh(c)"),
        facts=(Fact("op left out", op="tanh"),),
    ),
    Mistake(
        "emission_of_the_tag_before",
        "crf",
        "jax",
        "emission[:, None]",
        "emission[:, :, None]",
        ("scores = alpha.unsqueeze(2)", "scores = alpha.expand_dims(2)"),
        facts=(
            Fact("axis", op="unsqueeze", axes=(2, 1)),
            Fact("axis", op="expand_dims", axes=(2, 1)),
            Fact("layout"),
        ),
    ),
    Mistake(
        "mean_over_the_factors",
        "deepfm",
        "jax",
        "(square_of_sum - sum_of_squares).sum(1)",
        "(square_of_sum - sum_of_squares).mean(1)",
        ("pairs = 0.5 * (square_of_sum - sum_of_squares).sum(",),
        facts=(
            Fact("other op", op="mean"),
            Fact("other op", op="sum"),
            Fact("factor", factor=1 / 4),
            Fact("op added", op="div"),  # a mean in JAX is a sum, and a division by the number
        ),
    ),
    Mistake(
        "relu_of_the_classifier",
        "fire_module",
        "jax",
        'logits = conv(params, "classifier", fire(params, x)).mean((2, 3))',
        'logits = jax.nn.relu(conv(params, "classifier", fire(params, x))).mean((2, 3))',
        ("x = self.classifier(self.fire(x))", "logits = x.mean((2, 3))"),
        facts=(
            Fact("op added", op="relu"),
            Fact("op added", op="max"),  # what JAX makes of relu
        ),
    ),
    Mistake(
        "bias_frozen_too",
        "lora",
        "jax",
        'params[f"{name}.base.bias"]',
        'jax.lax.stop_gradient(params[f"{name}.base.bias"])',
        ("return self.base(x) + update * self.scaling",),
        facts=(Fact("stopped gradient"),),
    ),
    Mistake(
        "one_bias_of_two",
        "lstm_tagger",
        "jax",
        'gates += hidden @ params["lstm.weight_hh_l0"].T + params["lstm.bias_hh_l0"]',
        'gates += hidden @ params["lstm.weight_hh_l0"].T',
        ("out, _ = self.lstm(self.embedding(words))",),
        facts=(Fact("bias"), Fact("op left out", op="add")),
    ),
    Mistake(
        "penalty_on_the_tables",
        "matrix_factorisation",
        "jax",
        "norms = (p**2).sum() + (q**2).sum()",
        'norms = sum((params[f"{it}_factors.weight"] ** 2).sum() for it in ("user", "film"))',
        ("norms = p.",),
        facts=(
            Fact("other input"),
            Fact("op left out", op="embedding"),
            Fact("op left out", op="gather"),
        ),
    ),
    Mistake(
        "probability_of_the_mean_score",
        "mixture_of_experts",
        "jax",
        "probability = jax.nn.softmax(scores).mean(0)",
        "probability = jax.nn.softmax(scores.mean(0))",
        ("probability = F.softmax(scores", "probability = ops.softmax(scores"),
        facts=(Fact("order of ops", op="softmax"), Fact("order of ops", op="mean")),
    ),
    Mistake(
        "statistics_of_evaluation",
        "resnet_training",
        "jax",
        """        mean = x.mean((0, 2, 3), keepdims=True)
        normal = (x - mean) * lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
""",
        """        mean = params[f"{name}.running_mean"][:, None, None]
        variance = params[f"{name}.running_var"][:, None, None]
        normal = (x - mean) * lax.rsqrt(variance + 1e-5)
""",
        ("relu(self.bn1(x))", "relu(self.bn2(out))", "relu(self.bn(x))"),
        facts=(
            Fact("mode"),
            Fact("argument", argument="training", values=(False, True)),
            Fact("argument", argument="is_training", values=(False, True)),
            Fact("op left out", op="mean"),
            Fact("op left out", op="var"),
        ),
    ),
    Mistake(
        "smoothing_among_the_others",
        "transformer_translation",
        "jax",
        "smoothing * scores.mean(-1)",
        "smoothing * (scores.sum(-1) - right) / (scores.shape[-1] - 1)",
        ("loss = self.loss(",),
        facts=(
            # Of 9 classes; 0.1 among 8 is 0.1125 among 9.
            Fact("argument", argument="label_smoothing", values=(0.1125, 0.1)),
            Fact("op added", op="sub"),
        ),
    ),
)
"""Those in JAX's nets."""

IN_OTHERS = (
    Mistake(
        "sigmoid_twice",
        "wide_and_deep",
        "torch",
        "nn.BCELoss()",
        "nn.BCEWithLogitsLoss()",
        ("return self.loss(probability, label", "losses = -jnp.where("),
        facts=(
            Fact("other op", op="binary_cross_entropy_with_logits"),
            Fact("other op", op="binary_cross_entropy"),
            Fact("op added", op="sigmoid"),
        ),
    ),
    Mistake(
        "times_from_one",
        "diffusion_denoiser",
        "torch",
        "self.alpha_bar[time]",
        "self.alpha_bar[time - 1]",
        ("alpha_bar = ops.gather(self.alpha_bar, time", "alpha = jnp.asarray(alpha_bar)[time]"),
        facts=(
            Fact("shift"),
            Fact("offset"),
            Fact("op added", op="sub"),
            Fact("other input"),
        ),
    ),
    Mistake(
        "border_not_counted",
        "inception_block",
        "mindspore",
        'nn.AvgPool2d(3, stride=1, pad_mode="pad", padding=1)',
        'nn.AvgPool2d(3, stride=1, pad_mode="same")',
        ("pooled = self.branch_pool(self.pool(x))", "pooled = lax.reduce_window("),
        facts=(
            Fact("padding"),
            Fact("argument", argument="count_include_pad", values=(False, True)),
            Fact("argument", argument="pad_mode", values=("same", "pad")),
        ),
    ),
)
"""Those in PyTorch's and MindSpore's."""

STRANGERS = {f"{mistake.scenario}-{mistake.name}": mistake for mistake in (*IN_JAX, *IN_OTHERS)}
"""All of them, by name."""
