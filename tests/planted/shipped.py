"""Mistakes in the nets that are shipped, in each framework, with what is wrong as facts."""

import msgspec

from tests.planted.facts import Fact
from tests.planted.library import LIBRARY
from tests.planted.mistake import Mistake
from tests.planted.mistakes import MISTAKES
from tests.planted.strangers import STRANGERS

IN_JAX = (
    Mistake(
        "exact_gelu",
        "gpt",
        "jax",
        'jax.nn.gelu(dense(params, "h.mlp.c_fc", x), approximate=True)',
        'jax.nn.gelu(dense(params, "h.mlp.c_fc", x), approximate=False)',
        facts=(
            Fact("argument", argument="approximate", values=("none", "tanh")),
            Fact("other op", op="gelu"),
        ),
    ),
    Mistake(
        "diagonal_of_the_mask",
        "gpt",
        "jax",
        "jnp.tril(jnp.ones((t, t), bool))",
        "jnp.tril(jnp.ones((t, t), bool), 1)",
        ("att = jax.nn.softmax(jnp.where(past", "att = att.masked_fill(self.future"),
        facts=(Fact("mask"), Fact("argument", argument="k", values=(1, 0))),
    ),
    Mistake(
        "scale_left_out",
        "gpt",
        "jax",
        "att = (q @ k.swapaxes(-2, -1)) * (c // n_head) ** -0.5",
        "att = q @ k.swapaxes(-2, -1)",
        (
            "att = (q @ k.transpose(-2, -1)) * k.size(-1) ** -0.5",
            "att = ops.matmul(q, k.swapaxes(-2, -1)) * self.scale",
        ),
        facts=(Fact("factor", factor=2.0), Fact("op left out", op="mul")),
    ),
    Mistake(
        "epsilon_of_flax",
        "gpt",
        "jax",
        "x.var(-1, keepdims=True) + 1e-5",
        "x.var(-1, keepdims=True) + 1e-6",
        ("centred = x - x.mean(-1",),
        facts=(Fact("argument", argument="eps", values=(1e-6, 1e-5)),),
    ),
    Mistake(
        "sum_after_relu",
        "resnet_inference",
        "jax",
        "return jax.nn.relu(out + x)",
        "return jax.nn.relu(out) + x",
        facts=(Fact("order of ops", op="relu"), Fact("order of ops", op="add")),
    ),
    Mistake(
        "epsilon_of_the_norm",
        "resnet_inference",
        "jax",
        "lax.rsqrt(variance + 1e-5)",
        "lax.rsqrt(variance + 1e-3)",
        facts=(Fact("argument", argument="eps", values=(1e-3, 1e-5)),),
    ),
    Mistake(
        "same_padding_with_stride",
        "bottleneck",
        "jax",
        "[(0, 0), (0, 0), (1, 1), (1, 1)]",
        '"SAME"',
        ("x = lax.reduce_window(",),
        facts=(
            Fact("padding"),
            Fact("argument", argument="padding", values=((0, 1), (1, 1))),
            Fact("shift"),
        ),
    ),
    Mistake(
        "axes_of_the_norm",
        "bottleneck",
        "jax",
        "mean = x.mean((0, 2, 3), keepdims=True)",
        "mean = x.mean((2, 3), keepdims=True)",
        ("normal = (x - mean)",),
        facts=(Fact("axis", op="mean"), Fact("argument", argument="axes")),
    ),
    Mistake(
        "population_variance",
        "vicreg",
        "jax",
        "z.var(0, ddof=1)",
        "z.var(0)",
        facts=(
            Fact("argument", argument="correction", values=(0, 1)),
            Fact("argument", argument="unbiased", values=(False, True)),
            Fact("factor", factor=3 / 4),
        ),
    ),
    Mistake(
        "squared_error",
        "dqn",
        "jax",
        "jnp.where(error < 1.0, 0.5 * error**2, error - 0.5).mean()",
        "(error**2).mean()",
        ("smooth_l1_loss(q, expected",),
        facts=(
            Fact("other op", op="smooth_l1_loss"),
            Fact("other op", op="mse_loss"),
        ),
    ),
    Mistake(
        "target_not_cut_off",
        "dqn",
        "jax",
        "jax.lax.stop_gradient(expected)",
        "expected",
        facts=(Fact("stopped gradient"),),
    ),
    Mistake(
        "temperature_multiplied",
        "simclr",
        "jax",
        "z @ z.T / temperature",
        "z @ z.T * temperature",
        facts=(Fact("factor", factor=0.25), Fact("other op", op="div")),
    ),
    Mistake(
        "normalised_over_the_batch",
        "simclr",
        "jax",
        "jnp.linalg.norm(z, axis=1, keepdims=True)",
        "jnp.linalg.norm(z, axis=0, keepdims=True)",
        facts=(Fact("axis", op="norm"),),
    ),
    Mistake(
        "last_token_for_first",
        "vit_block",
        "jax",
        'norm(params, "norm", x)[:, 0]',
        'norm(params, "norm", x)[:, -1]',
        facts=(Fact("shift"), Fact("argument", argument="index")),
    ),
    Mistake(
        "approximate_gelu",
        "vit_block",
        "jax",
        'jax.nn.gelu(dense(params, "block.mlp.fc1", x), approximate=False)',
        'jax.nn.gelu(dense(params, "block.mlp.fc1", x))',
        facts=(
            Fact("argument", argument="approximate", values=("tanh", "none")),
            Fact("other op", op="gelu"),
        ),
    ),
    Mistake(
        "relu_for_silu",
        "squeeze_excite",
        "jax",
        'jax.nn.silu(conv(params, "conv", x))',
        'jax.nn.relu(conv(params, "conv", x))',
        facts=(Fact("other op", op="silu"),),
    ),
    Mistake(
        "sign_of_the_rotation",
        "llama_block",
        "jax",
        "jnp.concatenate((-x2, x1), axis=-1)",
        "jnp.concatenate((x2, -x1), axis=-1)",
        facts=(Fact("factor", factor=-1.0), Fact("order of inputs"), Fact("op left out", op="neg")),
    ),
    Mistake(
        "distance_not_squared",
        "triplet_loss",
        "jax",
        "far = ((a - n) ** 2).sum(1)",
        "far = jnp.abs(a - n).sum(1)",
        facts=(Fact("other op", op="pow"), Fact("other op", op="abs")),
    ),
    Mistake(
        "mean_over_the_anchors",
        "focal_loss",
        "jax",
        "(alpha_t * (1 - p_t) ** gamma * ce).sum()",
        "(alpha_t * (1 - p_t) ** gamma * ce).mean()",
        facts=(
            Fact("other op", op="sum"),
            Fact("factor", factor=1 / 32),
            Fact("op added", op="div"),  # a mean in JAX is a sum, and a division by the number
        ),
    ),
    Mistake(
        "weight_of_the_focus",
        "focal_loss",
        "jax",
        "alpha=0.25, gamma=2.0",
        "alpha=0.25, gamma=1.5",
        ("return (alpha_t * (1 - p_t)",),
        facts=(Fact("argument", argument="exponent", values=(1.5, 2.0)),),
    ),
    Mistake(
        "heads_not_transposed_back",
        "transformer_encoder_layer",
        "jax",
        "(weights @ v).swapaxes(1, 2).reshape(b, t, c)",
        "(weights @ v).reshape(b, t, c)",
        facts=(Fact("layout"), Fact("op left out", op="transpose")),
    ),
    Mistake(
        "variance_for_deviation",
        "vae",
        "jax",
        "jnp.exp(0.5 * logvar)",
        "jnp.exp(logvar)",
        facts=(Fact("factor", factor=2.0), Fact("op left out", op="mul")),
    ),
    Mistake(
        "scale_left_out",
        "arcface",
        "jax",
        "jax.nn.log_softmax(scale * jnp.cos(theta + margin * right))",
        "jax.nn.log_softmax(jnp.cos(theta + margin * right))",
        facts=(Fact("factor", factor=1 / 16), Fact("op left out", op="mul")),
    ),
    Mistake(
        "taps_reversed",
        "wavenet",
        "jax",
        '        weight = params[f"{name}.weight"]\n',
        '        weight = params[f"{name}.weight"][:, :, ::-1]\n',
        ("x = lax.conv_general_dilated(x, weight",),
        facts=(Fact("op added", op="flip"), Fact("layout"), Fact("shift")),
    ),
)
"""Those in JAX's nets."""

HELD_OUT = (
    Mistake(
        "weight_not_transposed",
        "bert",
        "jax",
        'dense(params, "transform", x)',
        'x @ params["transform.weight"] + params["transform.bias"]',
        facts=(Fact("layout"), Fact("op left out", op="transpose"), Fact("op left out", op="t")),
    ),
    Mistake(
        "padding_not_ignored",
        "bert",
        "jax",
        "return -(each * is_masked).sum() / is_masked.sum()",
        "return -each.mean()",
        ("loss = F.cross_entropy(logits.view(-1", "logits.view(-1, logits.shape[-1]), labels"),
        facts=(
            Fact("mask"),
            Fact("argument", argument="ignore_index"),
            Fact("op left out", op="mul"),
        ),
    ),
    Mistake(
        "epsilon_of_torch",
        "mlp_mixer",
        "jax",
        "lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)",
        "lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)",
        ("centred = x - x.mean(-1",),
        facts=(Fact("argument", argument="eps", values=(1e-5, 1e-6)),),
    ),
    Mistake(
        "log_softmax_over_the_batch",
        "speech_commands",
        "jax",
        "log_probs = jax.nn.log_softmax(log_probs)",
        "log_probs = jax.nn.log_softmax(log_probs, axis=0)",
        facts=(Fact("axis", op="log_softmax"), Fact("argument", argument="dim", values=(0, 1))),
    ),
    Mistake(
        "population_deviation",
        "ppo",
        "jax",
        "advantage.std(ddof=1)",
        "advantage.std()",
        facts=(
            Fact("argument", argument="correction", values=(0, 1)),
            Fact("argument", argument="unbiased", values=(False, True)),
            Fact("factor", factor=(3 / 4) ** 0.5),
        ),
    ),
    Mistake(
        "fake_not_cut_off",
        "gan_losses",
        "jax",
        "jax.lax.stop_gradient(fake)",
        "fake",
        ("fake.detach()", "ops.stop_gradient(fake)"),
        facts=(Fact("stopped gradient"),),
    ),
    Mistake(
        "default_slope",
        "gan_losses",
        "jax",
        'dense(params, "discriminator.main.0", x), 0.2)',
        'dense(params, "discriminator.main.0", x))',
        facts=(
            Fact("argument", argument="negative_slope", values=(0.01, 0.2)),
            Fact("argument", argument="alpha", values=(0.01, 0.2)),
        ),
    ),
    Mistake(
        "divergence_the_other_way",
        "distillation",
        "jax",
        "(jnp.exp(goal) * (goal - jax.nn.log_softmax(logits / t)))",
        "(jax.nn.softmax(logits / t) * (jax.nn.log_softmax(logits / t) - goal))",
        facts=(Fact("order of inputs"), Fact("other input")),
    ),
    Mistake(
        "divergence_over_all",
        "distillation",
        "jax",
        "log_softmax(logits / t))).sum(1).mean()",
        "log_softmax(logits / t))).mean()",
        facts=(
            Fact("argument", argument="reduction"),
            Fact("factor", factor=1 / 4),
            Fact("other op", op="mean"),
        ),
    ),
    Mistake(
        "branches_swapped",
        "siamese",
        "jax",
        "((1 - y) * distance**2 + y * apart**2)",
        "(y * distance**2 + (1 - y) * apart**2)",
        facts=(Fact("order of inputs"), Fact("other input")),
    ),
    Mistake(
        "kernel_not_turned",
        "conv_autoencoder",
        "jax",
        """            dimension_numbers=("NCHW", "OIHW", "NCHW"),
            transpose_kernel=True,
""",
        """            dimension_numbers=("NCHW", "IOHW", "NCHW"),
            transpose_kernel=False,
""",
        ("x = lax.conv_transpose(",),
        facts=(Fact("op left out", op="flip"), Fact("layout")),
    ),
    Mistake(
        "shortcut_behind_the_convolution",
        "convnext_block",
        "jax",
        """        x = x + params["dwconv.bias"][:, None, None]
""",
        """        x = shortcut = x + params["dwconv.bias"][:, None, None]
""",
        ("x = shortcut + x",),
        facts=(Fact("other input"),),
    ),
    Mistake(
        "skip_behind",
        "unet",
        "jax",
        "jnp.concatenate([skip, x], axis=1)",
        "jnp.concatenate([x, skip], axis=1)",
        facts=(Fact("order of inputs"), Fact("rows in another order")),
    ),
    Mistake(
        "gate_the_other_way",
        "gru_classifier",
        "jax",
        "(1 - update) * new + update * hidden",
        "update * new + (1 - update) * hidden",
        ("_, hidden = self.gru(",),
        facts=(Fact("order of inputs"), Fact("other input")),
    ),
    Mistake(
        "pool_not_divided",
        "dense_block",
        "jax",
        'lax.add, window, window, "VALID") / 4',
        'lax.add, window, window, "VALID")',
        facts=(Fact("factor", factor=4.0), Fact("op left out", op="div")),
    ),
    Mistake(
        "nearest_for_bilinear",
        "deeplab_head",
        "jax",
        '"bilinear")',
        '"nearest")',
        ("logits = F.interpolate(", "logits = ops.interpolate("),
        facts=(
            Fact("argument", argument="mode"),
            Fact("other op", op="upsample_bilinear2d"),
            Fact("other op", op="upsample_nearest2d"),
            Fact("other op", op="ResizeNearestNeighborV2"),
        ),
    ),
)
"""More of those in JAX's nets, in other nets or at other lines."""

IN_TORCH = (
    Mistake(
        "epsilon_of_one_norm",
        "resnet_inference",
        "torch",
        "self.bn2 = nn.BatchNorm2d(channels)",
        "self.bn2 = nn.BatchNorm2d(channels, eps=1e-3)",
        ("out = self.bn2(self.conv2(out))",),
        facts=(Fact("argument", argument="eps", values=(1e-3, 1e-5)),),
    ),
    Mistake(
        "stride_in_the_first_convolution",
        "bottleneck",
        "torch",
        "self.conv1 = nn.Conv2d(in_channels, channels, 1, bias=False)\n"
        "            self.bn1 = nn.BatchNorm2d(channels)\n"
        "            self.conv2 = nn.Conv2d(channels, channels, 3, stride, ",
        "self.conv1 = nn.Conv2d(in_channels, channels, 1, stride, bias=False)\n"
        "            self.bn1 = nn.BatchNorm2d(channels)\n"
        "            self.conv2 = nn.Conv2d(channels, channels, 3, 1, ",
        ("out = self.relu(self.bn1(self.conv1(x)))",),
        facts=(Fact("argument", argument="stride", values=(2, 1)),),
    ),
    Mistake(
        "approximate_gelu",
        "convnext_block",
        "torch",
        "nn.GELU()",
        'nn.GELU(approximate="tanh")',
        ("self.act(self.pwconv1(",),
        facts=(
            Fact("argument", argument="approximate", values=("tanh", "none")),
            Fact("other op", op="gelu"),
        ),
    ),
    Mistake(
        "power_of_the_focus",
        "focal_loss",
        "torch",
        "alpha=0.25, gamma=2.0",
        "alpha=0.25, gamma=1.0",
        ("return (alpha_t * (1 - p_t)",),
        facts=(
            Fact("argument", argument="exponent", values=(1.0, 2.0)),
            Fact("other op", op="pow"),
            Fact("op left out", op="pow"),
        ),
    ),
    Mistake(
        "averaged_reconstruction",
        "vae",
        "torch",
        'reduction="sum"',
        'reduction="mean"',
        ("bce = F.",),
        facts=(
            Fact("argument", argument="reduction", values=("mean", "sum")),
            Fact("other op", op="sum"),
            Fact("factor", factor=1 / 18),
        ),
    ),
    Mistake(
        "beta_of_the_loss",
        "squeeze_excite",
        "torch",
        "beta=1.0",
        "beta=0.5",
        ("return self.loss(out, target)",),
        facts=(Fact("argument", argument="beta", values=(0.5, 1.0)),),
    ),
    Mistake(
        "relu_for_relu6",
        "mobilenet_block",
        "torch",
        "nn.ReLU6(inplace=True)",
        "nn.ReLU(inplace=True)",
        (
            "x = self.block2(self.block1(self.stem(image)))",
            "super().__init__(",
            "return jax.nn.relu6(",
        ),
        facts=(
            Fact("other op", op="relu6"),
            Fact("op left out", op="clamp"),
            Fact("op left out", op="min"),  # relu6 in JAX is the minimum of relu and 6
        ),
    ),
    Mistake(
        "ends_not_masked",
        "dqn",
        "torch",
        "self.gamma * next_q * (1.0 - done.float())",
        "self.gamma * next_q",
        facts=(Fact("op left out", op="mul"),),
    ),
    Mistake(
        "squared_error",
        "super_resolution",
        "torch",
        "nn.L1Loss()",
        "nn.MSELoss()",
        ("return self.loss(x, large)",),
        facts=(Fact("other op", op="mse_loss"), Fact("other op", op="l1_loss")),
    ),
    Mistake(
        "sign_of_the_margin",
        "arcface",
        "torch",
        "torch.cos(theta + self.margin * right)",
        "torch.cos(theta - self.margin * right)",
        facts=(Fact("other op", op="sub"), Fact("factor", factor=-1.0)),
    ),
    Mistake(
        "norm_first",
        "transformer_encoder_layer",
        "torch",
        "batch_first=True",
        "batch_first=True, norm_first=True",
        ("return self.fc(self.layer(x)",),
        facts=(Fact("order of ops", op="layer_norm"),),
    ),
    Mistake(
        "divided_by_all",
        "distillation",
        "torch",
        'reduction="batchmean"',
        'reduction="mean"',
        ("soft = F.kl_div(",),
        facts=(
            Fact("argument", argument="reduction"),
            Fact("factor", factor=1 / 4),
            Fact("other op", op="mean"),
        ),
    ),
    Mistake(
        "bounds_of_the_clip",
        "ppo",
        "torch",
        "1.0 - self.clip, 1.0 + self.clip",
        "1.0 - self.clip, 1.0 + 2 * self.clip",
        facts=(Fact("argument", argument="max", values=(1.4, 1.2)),),
    ),
    Mistake(
        "texts_not_normalised",
        "clip",
        "torch",
        "            t = t / t.norm(dim=1, keepdim=True)\n",
        "",
        ("logits = self.logit_scale.exp() * i @ t.T", "t = t / jnp.linalg.norm("),
        facts=(Fact("op left out", op="div"),),
    ),
    Mistake(
        "default_slope",
        "real_nvp",
        "torch",
        "nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim), nn.Tanh()",
        "nn.Linear(dim, hidden), nn.LeakyReLU(0.3), nn.Linear(hidden, dim), nn.Tanh()",
        ("s = self.scale(kept)",),
        facts=(Fact("argument", argument="negative_slope", values=(0.3, 0.01)),),
    ),
    Mistake(
        "weights_averaged",
        "multihead_attention",
        "torch",
        "weights.square().sum()",
        "weights.square().mean()",
        facts=(Fact("other op", op="mean"), Fact("factor", factor=1 / 24)),
    ),
)
"""Those in PyTorch's."""

FACTS: dict[str, tuple[Fact, ...]] = {
    "resnet_inference-batch_norm_epsilon": (Fact("argument", argument="eps", values=(1e-3, 1e-5)),),
    "resnet_inference-same_padding_with_stride": (
        Fact("padding"),
        Fact("argument", argument="pad_mode", values=("same", "pad")),
        Fact("shift"),
    ),
    "resnet_inference-sum_after_relu": (
        Fact("order of ops", op="relu"),
        Fact("order of ops", op="add"),
    ),
    "bottleneck-pooling_padded_on_one_side": (
        Fact("padding"),
        Fact("argument", argument="pad_mode", values=("same", "pad")),
        Fact("shift"),
    ),
    "gpt-mask_off_by_one": (Fact("mask"), Fact("argument", argument="diagonal", values=(2, 1))),
    "gpt-exact_gelu": (
        Fact("argument", argument="approximate", values=("none", "tanh")),
        Fact("other op", op="gelu"),
    ),
    "gpt-scale_left_out": (Fact("factor", factor=2.0), Fact("op left out", op="mul")),
    "gpt-keys_and_queries_swapped": (Fact("order of inputs"), Fact("layout")),
    "llama_block-gate_and_value_swapped": (Fact("order of inputs"), Fact("other input")),
    "vae-variance_for_deviation": (Fact("factor", factor=2.0), Fact("op left out", op="mul")),
    "vae-divergence_averaged": (Fact("other op", op="mean"), Fact("factor", factor=1 / 6)),
    "pinn-step_not_squared": (Fact("factor", factor=0.25), Fact("op left out", op="pow")),
    "simclr-temperature_multiplied": (Fact("factor", factor=0.25), Fact("other op", op="div")),
    "ppo-sign_of_the_entropy": (Fact("factor", factor=-1.0), Fact("other op", op="sub")),
    "dqn-squared_error": (Fact("other op", op="smooth_l1_loss"), Fact("other op", op="mse_loss")),
    "real_nvp-scale_not_exponentiated": (
        Fact("op left out", op="exp"),
        Fact("other op", op="exp"),
    ),
    "vicreg-biased_variance": (
        Fact("argument", argument="unbiased", values=(False, True)),
        Fact("factor", factor=3 / 4),
    ),
    "mlp_mixer-approximate_gelu": (
        Fact("argument", argument="approximate", values=("tanh", "none")),
        Fact("other op", op="gelu"),
    ),
}
"""What is wrong by some of the mistakes in MindSpore's."""

SHIPPED = {
    **{
        f"{mistake.scenario}-{mistake.name}": mistake for mistake in (*IN_JAX, *HELD_OUT, *IN_TORCH)
    },
    **{
        f"{name}_in_mindspore": msgspec.structs.replace(MISTAKES[name], facts=facts)
        for name, facts in FACTS.items()
    },
    **STRANGERS,
}
"""All of them, by name."""


def fitting(engines: tuple[str, ...]) -> dict[str, Mistake]:
    """The mistakes in nets that all these engines run: the library's if it has any, else these."""
    for mistakes in (LIBRARY, SHIPPED):
        found = {name: it for name, it in mistakes.items() if it.is_between(engines)}
        if found:
            return found
    return {}
