"""The sentences that explain each metric to a newcomer: rows of (name, label, unit, text)."""

Row = tuple[str, str, str, str]

LOSS_ROWS: tuple[Row, ...] = (
    (
        "loss",
        "Loss",
        "",
        "What the optimizer makes smaller: policy_loss + beta × kl. It is not a measure of success: on a first inner "
        "update it is near 0 whatever the model can do.",
    ),
    (
        "policy_loss",
        "Policy loss",
        "",
        "The loss without the KL penalty: −min(ratio × A, clip(ratio, 1 − epsilon, 1 + epsilon_high) × A), averaged "
        "as loss_type says, where A is the advantage.",
    ),
    (
        "kl",
        "KL (mean)",
        "nats",
        "How far the model has moved from the reference it started from, averaged over tokens. K3 estimate: "
        "exp(d) − d − 1 with d = ref_logps − logps; 0 means no change.",
    ),
    (
        "kl/max",
        "KL (max)",
        "nats",
        "The largest K3 value of a single token in the step. One spike happens in healthy runs; a level that "
        "keeps rising does not.",
    ),
    (
        "entropy",
        "Entropy",
        "nats",
        "How undecided the model is about the next token, averaged over tokens: −Σ p log p at the sampling "
        "temperature. "
        "Near 0 all completions of a group come out the same and nothing is left to compare.",
    ),
    (
        "ratio/min",
        "Ratio (min)",
        "",
        "The smallest importance ratio exp(logps − old_logps) in the step: how much less likely a token has become "
        "since it was sampled. 1 means unchanged.",
    ),
    (
        "ratio/max",
        "Ratio (max)",
        "",
        "The largest importance ratio exp(logps − old_logps) in the step: how much more likely a token has become "
        "since it was sampled. 1 means unchanged.",
    ),
)
_CLIP_NOTE = (
    " With one inner update per rollout (num_iterations 1) it is 0 by construction. At sequence level whole "
    "completions are counted instead of tokens."
)
CLIP_ROWS: tuple[Row, ...] = (
    (
        "clip_ratio/low_mean",
        "Clipped low",
        "",
        "Share of tokens with a negative advantage whose ratio fell below 1 − epsilon, so that they no longer "
        "push the model." + _CLIP_NOTE,
    ),
    (
        "clip_ratio/high_mean",
        "Clipped high",
        "",
        "Share of tokens with a positive advantage whose ratio rose above 1 + epsilon_high, so that they no longer "
        "push the model." + _CLIP_NOTE,
    ),
    (
        "clip_ratio/region_mean",
        "Clipped",
        "",
        "Share of tokens where clipping changed the objective: clipped low or clipped high." + _CLIP_NOTE,
    ),
    (
        "clip_ratio/low_min",
        "Clipped low (min)",
        "",
        "The share of its tokens that were clipped low, in the completion where that share is smallest.",
    ),
    (
        "clip_ratio/high_max",
        "Clipped high (max)",
        "",
        "The share of its tokens that were clipped high, in the completion where that share is largest.",
    ),
    (
        "cispo_clip_ratio",
        "Capped",
        "",
        "Share of tokens with a positive advantage whose ratio rose above the cap epsilon_high (loss_type cispo); they "
        "still push the model, with the capped weight." + _CLIP_NOTE,
    ),
)
ROLLOUT_ROWS: tuple[Row, ...] = (
    (
        "reward",
        "Reward",
        "",
        "Mean reward of the step's completions: the weighted sum of all reward sources that had an opinion.",
    ),
    (
        "reward_std",
        "Reward std",
        "",
        "How much the rewards differ over all completions of the step (sample standard deviation of the batch).",
    ),
    (
        "reward_group_std",
        "Reward std in a group",
        "",
        "How much the rewards differ inside a group: the mean over the step's groups of their sample standard "
        "deviation. It is what the advantages are made of; 0 means that no group teaches anything.",
    ),
    (
        "frac_reward_zero_std",
        "Dead groups",
        "",
        "Share of groups whose completions all got the same reward. All their advantages are 0, so they teach nothing.",
    ),
    (
        "dead_groups/all_right",
        "Dead groups: all right",
        "",
        "Share of groups without signal in which every completion is right: these prompts are learned.",
    ),
    (
        "dead_groups/all_wrong",
        "Dead groups: all wrong",
        "",
        "Share of groups without signal in which every completion is wrong: these prompts are too hard for now.",
    ),
    (
        "dead_groups/other",
        "Dead groups: other",
        "",
        "Share of groups without signal for another reason: equal rewards though not all are right or all wrong, or "
        "a prompt that has no answer.",
    ),
    (
        "advantage/mean",
        "Advantage (mean)",
        "",
        "Mean advantage over the step's completions. Advantages are centred in their group, so it stays at 0.",
    ),
    (
        "advantage/std",
        "Advantage (std)",
        "",
        "How much the advantages differ over the step's completions (sample standard deviation). It falls towards 0 as "
        "groups die out.",
    ),
    (
        "advantage/min",
        "Advantage (min)",
        "",
        "The smallest advantage of the step: (reward − group mean) / (group std + eps) of the completion that did "
        "worst against its group.",
    ),
    (
        "advantage/max",
        "Advantage (max)",
        "",
        "The largest advantage of the step: (reward − group mean) / (group std + eps) of the completion that did best "
        "against its group.",
    ),
    (
        "completions/mean_length",
        "Length (mean)",
        "tokens",
        "Mean number of tokens of a completion, its end token included.",
    ),
    (
        "completions/min_length",
        "Length (min)",
        "tokens",
        "Tokens of the shortest completion of the step, its end token included.",
    ),
    (
        "completions/max_length",
        "Length (max)",
        "tokens",
        "Tokens of the longest completion of the step, its end token included.",
    ),
    (
        "completions/clipped_ratio",
        "Truncated",
        "",
        "Share of completions that reached max_completion_length without an end token. It has nothing to do with the "
        "clipping of ratios.",
    ),
    (
        "completions/mean_terminated_length",
        "Length (terminated)",
        "tokens",
        "Mean number of tokens of the completions that ended by themselves; empty when none did.",
    ),
)
EVALUATION_ROWS: tuple[Row, ...] = (
    (
        "eval/reward",
        "Held-out reward",
        "",
        "Mean reward on held-out prompts, which are never trained on, sampled at temperature 1.",
    ),
    (
        "eval/accuracy",
        "Held-out accuracy",
        "",
        "Share of right answers on held-out prompts, which are never trained on, sampled at temperature 1.",
    ),
)
RUN_ROWS: tuple[Row, ...] = (
    (
        "grad_norm",
        "Gradient norm",
        "",
        "Length of the gradient before it is cut to max_grad_norm: √Σ g² over all parameters, averaged over the step's "
        "inner updates.",
    ),
    (
        "learning_rate",
        "Learning rate",
        "",
        "How large the optimizer's steps are: the configured rate times the schedule's factor for this step. Where "
        "people rate, also times the trust in what they said.",
    ),
    (
        "num_tokens",
        "Tokens",
        "tokens",
        "Tokens processed since the run began: those of the prompts and of the completions.",
    ),
    (
        "tokens_per_second",
        "Speed",
        "tokens/s",
        "Completion tokens of the step divided by the time of the whole step, training included.",
    ),
    ("step_time", "Step time", "s", "Time of the whole step: rollout, rewards, all inner updates and handing over."),
    (
        "system/gpu_memory_gb",
        "GPU memory",
        "GB",
        "The most memory that the graphics card held for training during the step.",
    ),
    (
        "system/memory_gb",
        "Memory",
        "GB",
        "The memory that this program held when the step ended.",
    ),
    (
        "system/memory_free_gb",
        "Free memory",
        "GB",
        "The memory that the machine still had when the step ended.",
    ),
    (
        "system/disk_free_gb",
        "Free disk",
        "GB",
        "What was free on the disk of the run's files when the step ended.",
    ),
    (
        "system/write_ms",
        "Saving",
        "ms",
        "How long the database took to commit what the run left with it; the longest commit since the step before.",
    ),
    (
        "snapshot/size_gb",
        "Snapshot size",
        "GB",
        "What the snapshot made after the step takes on the disk.",
    ),
    (
        "snapshot/weights_change",
        "Check: exported weights",
        "",
        "How much the weights in the snapshot differ from those in the snapshot before, as a share of their length, "
        "measured on the first 1024 entries of each tensor. It must not be 0, or the export is not what was trained.",
    ),
    (
        "snapshot/reload_error",
        "Check: reloaded snapshot",
        "",
        "The largest difference of a token's log-probability between the model in training and its snapshot, loaded "
        "again. It must be 0 but for rounding. Only models of up to 200 million weights are tried.",
    ),
    (
        "system/gpu_load_percent",
        "GPU load",
        "%",
        "How busy the graphics card was, in percent, when the step ended.",
    ),
    (
        "check/first_ratio",
        "Check: ratio",
        "",
        "How far the ratio of a token is from 1 at the first inner update, at most. It must be 0 but for rounding: the "
        "model has to recognise its own samples.",
    ),
    (
        "check/mask_tokens",
        "Check: mask",
        "tokens",
        "Tokens that were trained on minus the tokens of the answers that were. It must be 0.",
    ),
    (
        "check/end_in_mask",
        "Check: end token",
        "",
        "Share of the answers that ended whose end token was trained on. It must be 1, or answers never learn to end.",
    ),
    (
        "check/weights_change",
        "Check: weights",
        "",
        "How much the first inner update changed the weights, as a share of their length, measured on the first 1024 "
        "entries of each tensor.",
    ),
    ("time/rollout", "Time: rollout", "s", "Time spent sampling the completions."),
    ("time/reward", "Time: reward", "s", "Time spent in the reward functions."),
    (
        "time/logps",
        "Time: log-probs",
        "s",
        "Time spent on log-probabilities that need no gradient: those of the reference model.",
    ),
    ("time/update", "Time: update", "s", "Time spent on the inner updates: forward, backward and optimizer."),
    ("time/store", "Time: store", "s", "Time spent handing the step over to the database, waiting for it included."),
)
