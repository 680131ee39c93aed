"""The texts of data parallel training: its study and its claim."""

from typing import Final

from explorer.text.language import later
from explorer.words.topics import Template

TEXTS: Final[dict[str, Template]] = {
    # Mean against sum, and seeds
    "route": later("{api}, {backend}"),
    "is_the_mean": later(
        "Each rank gets {mean} from {local}, which is the mean ({route}); summed it is {sum}, so a"
        " learning rate tuned for one is {ranks} times off for the other."
    ),
    "is_not_the_mean": later(
        "Each rank gets {mean} from {local}, which is not the mean ({route}); summed it is {sum},"
        " so a learning rate tuned for one is {ranks} times off for the other."
    ),
    "seeds_without_effect": later(
        "Seeds of their own make no difference to the ranks' first weights ({route})."
    ),
    "seeds_made_equal": later(
        "Ranks with seeds of their own start from different weights, which agree after one step:"
        " one rank's start was sent to the others ({route})."
    ),
    "seeds_left_different": later(
        "Ranks with seeds of their own start from different weights, which still differ after one"
        " step: set one seed on every rank ({route})."
    ),
    # Ways to take a step
    "by_hand": later("value_and_grad and DistributedGradReducer"),
    "way_in_style": later("{way} in {styles} style"),
    "ways_along_mean": later(
        "With {ways:,} each rank steps along the mean of the gradients ({framework}: {steps})."
    ),
    "ways_along_own": later(
        "With {ways:,} each rank steps along its own gradient, without a message, and their"
        " weights drift apart ({framework}: {steps})."
    ),
    "ways_along_other": later(
        "With {ways:,} the ranks step neither along the mean nor each along its own gradient"
        " ({framework}: {steps})."
    ),
    "ways_refused": later("With {ways:,} no rank gets on: {error} ({framework})."),
    "ways_title": later(
        "{framework}: what each way to take a step takes from the weight, divided by the learning"
        " rate"
    ),
    "way": later("way"),
    "style": later("style"),
    "along": later("along"),
    "along_mean": later("the mean"),
    "along_own": later("its own gradient"),
    "along_other": later("something else"),
    # The ranks side by side
    "ranks_title": later("{framework}: {reducer}"),
    "rank": later("rank {rank}"),
    "what": later("what"),
    "the_same": later("the same"),
    "local": later("gradient of the rank's own sample"),
    "mean": later("reduced with mean"),
    "sum": later("reduced with sum"),
    "after_step": later("weights after one step, one start"),
    "first_weights_one_seed": later("first random weights, one seed for all"),
    "first_weights_own_seed": later("first random weights, each rank its own seed"),
    "after_step_own_seed": later("weights after one step from there"),
    "gradients_title": later("One weight's gradient on two ranks"),
    "gradients_axis": later("gradient of the first weight"),
    "gradients_note": later(
        "Each rank differentiates its own sample; reducing with mean or with sum differs by the"
        " number of ranks."
    ),
    "rank_local": later("rank {rank}, local"),
    "bar_mean": later("mean"),
    "bar_sum": later("sum"),
    # The evidence of the claim
    "local_alone": later("gradients of the two ranks alone"),
    "with_ddp": later("gradient with DDP"),
    "ddp_as_printed": later("the example of DDP as printed"),
    "runs": later("runs"),
    "steps_by": later("steps of the two ranks by {ways:,}"),
    "on_ranks": later("{steps}"),
    "weights_by_seed": later("weights after a step from different seeds"),
    "agree": later("agree"),
    "differ": later("differ"),
    # Advice with values
    "one_style": later("Train data parallel in {style} style. {seed}"),
    "routes_and_seed": later("{routes} {seed}"),
    "routes_or_reducer": later(
        "Train data parallel with {routes:or}; elsewhere call nn.DistributedGradReducer on the"
        " gradients before the optimizer has them."
    ),
    "routes_alone": later("Train data parallel with {routes:or}."),
    "none_of_these": later("none of these"),
    "seed_in_both": later("Set one seed on every rank in both frameworks."),
    "seed_where_random": later(
        "Set one seed on every rank only where data is shuffled or dropped."
    ),
    "seed_in_mindspore": later(
        "Set one seed on every rank in MindSpore; PyTorch sends one rank's start to the others, and"
        " needs equal seeds only where data is shuffled or dropped."
    ),
}
