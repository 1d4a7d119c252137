"""Ready-made configs: where a run's settings start from, with what each one shows."""

from dataclasses import dataclass, replace

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import RewardSpec, TrainConfig


@dataclass(frozen=True, slots=True)
class Preset:
    """A named config. `label` and `description` are for the form; the description is one or two sentences."""

    name: str
    label: str
    description: str
    config: TrainConfig


_DEFAULT = TrainConfig()
_CONTAINS_PLUS_LENGTH = RewardSpec("contains + length", "contains_plus_length")

PRESETS: dict[str, Preset] = {
    preset.name: Preset(preset.name, preset.label, preset.description, replace(preset.config, preset=preset.name))
    for preset in (
        Preset(
            "default",
            "Default",
            "Teaches the built-in model one task in seconds: from about half of the answers right to over 95 %. "
            "Two inner updates per rollout, so that the clip curves have something to show.",
            _DEFAULT,
        ),
        Preset(
            "mixed",
            "All four tasks",
            "Compare, sort, add and reverse in one run, evaluated apart. Takes longer, because the tasks share a step.",
            replace(_DEFAULT, task="mix", steps=300),
        ),
        Preset(
            "sort-9",
            "Learn something new: sort 9 digits",
            "The base model saw at most 8 digits, so this is a new skill: about one answer in ten is right at first, "
            "and that is enough to start from.",
            replace(_DEFAULT, task="sort", min_size=9, max_size=9, steps=100),
        ),
        Preset(
            "sort-10",
            "Sort 10 digits, exact reward",
            "Hardly a completion is ever right, so every group is dead and nothing is learned: the first half of a "
            "lesson. The second half is the same task with partial credit.",
            replace(_DEFAULT, task="sort", min_size=10, max_size=10, steps=40),
        ),
        Preset(
            "sort-10-partial",
            "Sort 10 digits, partial credit",
            "The same task as with the exact reward, but right positions earn a little: groups differ again, "
            "and the model gets from nothing right to most.",
            replace(
                _DEFAULT,
                task="sort",
                min_size=10,
                max_size=10,
                steps=120,
                rewards=(RewardSpec("partial", "partial"),),
            ),
        ),
        Preset(
            "rate-by-hand",
            "Rate by hand",
            "Sort digits with your ratings as the only reward: the model learns nothing but what you teach it in the "
            "Rate view. Each update waits until two of its groups are rated: some 25 ratings already show in the "
            "held-out curve.",
            replace(
                _DEFAULT,
                task="sort",
                steps=60,
                rating_mode="wait",
                eval_steps=5,
                eval_prompts=256,
                rewards=(RewardSpec("human", "human"),),
                multi_objective_aggregation="normalize_then_sum",
            ),
        ),
        Preset(
            "seed",
            "Seed pseudo-code",
            "GRPO as in the pseudo-code this project grew from: population standard deviation, mean over tokens, "
            "beta 0.04, one inner update per rollout (so nothing is ever clipped).",
            replace(
                _DEFAULT,
                loss_type="bnpo",
                advantage_std="population",
                advantage_eps=1e-8,
                beta=0.04,
                num_iterations=1,
            ),
        ),
        Preset(
            "trl",
            "TRL's defaults",
            "The loss options of TRL's GRPOTrainer: DAPO's aggregation over all tokens of the step, no KL term, "
            "one inner update. The learning rate stays ours, TRL's 1e-6 moves nothing in a small model.",
            replace(_DEFAULT, loss_type="dapo", beta=0.0, num_iterations=1, use_bias_correction_kl=True),
        ),
        Preset(
            "dapo",
            "DAPO",
            "Clips higher above than below (0.28 and 0.2), which keeps unlikely tokens alive; mean over all tokens "
            "of the step, no KL term (arXiv 2503.14476).",
            replace(_DEFAULT, loss_type="dapo", epsilon_high=0.28, beta=0.0),
        ),
        Preset(
            "dr-grpo",
            "Dr. GRPO",
            "Divides neither by the group's spread nor by a completion's own length, which removes two biases; "
            "no KL term (arXiv 2503.20783).",
            replace(_DEFAULT, loss_type="dr_grpo", scale_rewards="none", beta=0.0),
        ),
        Preset(
            "gspo",
            "GSPO",
            "One ratio per completion instead of one per token, clipped in a very narrow range (arXiv 2507.18071).",
            replace(_DEFAULT, importance_sampling_level="sequence", epsilon=3e-4, epsilon_high=4e-4, beta=0.0),
        ),
        Preset(
            "lesson-lr-too-high",
            "Lesson in failure: learning rate too high",
            "Ten times the learning rate, four inner updates and no KL term: within 15 steps the policy breaks, "
            "KL goes into the hundreds and accuracy to 0. Watch which curve warns first.",
            replace(_DEFAULT, task="sort", learning_rate=3e-3, num_iterations=4, beta=0.0, steps=40),
        ),
        Preset(
            "lesson-hackable-reward",
            "Lesson in failure: a reward that can be hacked",
            "The reward pays for containing the answer and for length. Reward rises and rises, accuracy rises first "
            "and then falls to 0: only the held-out curve tells.",
            replace(_DEFAULT, task="add", rewards=(_CONTAINS_PLUS_LENGTH,), beta=0.0, steps=60),
        ),
    )
}


def preset_config(name: str) -> TrainConfig:
    """Return the config of a preset.

    Raises:
        BadInputError: there is no such preset.
    """
    if name not in PRESETS:
        raise BadInputError(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
    return PRESETS[name].config


def run_name(config: TrainConfig) -> str:
    """Return a name for the run history: the task, and the preset when it is not the default."""
    task = config.prompt_file.replace("\\", "/").rsplit("/", 1)[-1] if config.task == "file" else config.task
    return task if config.preset == "default" else f"{task}, {config.preset}"
