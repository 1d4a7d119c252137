"""The configuration of a run: one frozen dataclass, validated once with sentences a user understands."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RewardSpec:
    """One reward source of a run.

    `kind` names a function of `grpo_gui.tasks.rewards`; `argument` is its one option (a pattern,
    a length in tokens, a number) or empty. `name` is the label in store and plots.
    """

    name: str
    kind: str
    weight: float = 1.0
    argument: str = ""


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Everything that defines a run. Loss options carry TRL's names; lengths are tokens."""

    preset: str = "default"
    # what is learned
    task: str = "compare"  # compare, sort, add, reverse, mix, or file
    task_mix: tuple[tuple[str, float], ...] = ()  # (task, weight) when task is mix
    prompt_file: str = ""  # a data file, or reasoning_gym:NAME, when task is file
    min_size: int = 0  # digits or characters of a problem; 0: the task's own range
    max_size: int = 0
    rewards: tuple[RewardSpec, ...] = (RewardSpec("exact", "exact"),)
    model: str = "builtin"  # or a folder with a causal language model, or a GGUF file
    lora_rank: int = 0  # 0: train all weights
    chat_template: bool = True  # put prompts into the model's chat template, when it has one
    system_prompt: str = ""
    gradient_checkpointing: bool = False
    # how much
    steps: int = 120
    prompts_per_step: int = 8  # P
    num_generations: int = 8  # G
    num_iterations: int = 2  # inner updates per rollout
    micro_batch_prompts: int = 0  # prompts per forward and backward; 0: all of the step
    max_completion_length: int = 16
    # optimizer
    learning_rate: float = 3e-4
    warmup_steps: int = 5
    min_lr_ratio: float = 0.1  # linear decay down to this share
    max_grad_norm: float = 1.0
    weight_decay: float = 0.0
    # loss (grpo_gui.grpo.LossConfig)
    loss_type: str = "grpo"  # grpo, bnpo, dapo, dr_grpo, cispo
    importance_sampling_level: str = "token"  # token or sequence
    epsilon: float = 0.2
    epsilon_high: float | None = None  # None: epsilon
    delta: float | None = None
    beta: float = 0.02
    use_bias_correction_kl: bool = False
    mask_truncated_completions: bool = False
    # advantages
    scale_rewards: str = "group"  # group, batch, none
    multi_objective_aggregation: str = "sum_then_normalize"  # or normalize_then_sum
    advantage_std: str = "sample"  # or population
    advantage_eps: float = 1e-4
    # sampling
    temperature: float = 1.0
    top_k: int = 0  # 0: off
    top_p: float = 1.0
    # ratings of people, when a reward is of the kind human
    rating_mode: str = "async"  # wait, async or offline
    rating_quorum: int = 2  # groups of a step that must be rated before a waiting update
    rating_max_age: int = 200  # steps until a rating is too old to learn from
    rating_late_share: float = 0.25  # the most of a batch that may be late ratings
    rating_shrink: bool = True  # multiply their weight by the raters' confidence
    # held-out evaluation, sampled at temperature 1
    eval_steps: int = 10  # 0: never
    eval_prompts: int = 64
    # snapshots; one is always made at the end of a run and when it is stopped
    save_steps: int = 0  # steps between two of them; 0: never
    save_best: bool = False  # one at every new best held-out reward
    save_total_limit: int = 5  # the newest ones are kept, beside the best and the pinned; 0: all
    save_only_model: bool = False  # leave the training state out: smaller, but no exact resume
    # where and how
    seed: int = 0
    device: str = "auto"  # auto, cpu, cuda:N, mps
    threads: int = 1
    bf16: bool = False  # autocast on cuda
