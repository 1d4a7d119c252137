"""The learning rate over a run: linear warm-up, then linear decay."""


def learning_rate_at(step: int, *, peak: float, steps: int, warmup_steps: int, min_lr_ratio: float) -> float:
    """Return the learning rate of `step` (from 1) of `steps`.

    It rises linearly to `peak` at step `warmup_steps`, then falls linearly to `min_lr_ratio * peak` at
    the last step and stays there.
    """
    if step <= warmup_steps:
        return peak * step / warmup_steps
    decay_steps = max(steps - max(warmup_steps, 1), 1)
    progress = min((step - max(warmup_steps, 1)) / decay_steps, 1.0)
    return peak * (1.0 - (1.0 - min_lr_ratio) * progress)
