"""The nine curve plots of a run: what each draws and what stands in its header."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.formatting import NOTHING, number, percent, significant
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.plots.layers import DotLayer, Layer, LineLayer, RangeLayer, SpreadLayer, StackLayer, ThresholdLayer
from grpo_gui.ui.plots.past import PastLayer
from grpo_gui.ui.plots.reading import Reading
from grpo_gui.ui.widgets.legend import LegendEntry

SOURCE_STYLES = (("source_1", "solid"), ("source_2", "dash"), ("source_3", "dash"))
TIME_PARTS = (
    ("time/rollout", "rollout", "time_rollout"),
    ("time/reward", "reward", "time_reward"),
    ("time/logps", "log-probs", "time_logps"),
    ("time/update", "update", "time_update"),
    ("time/store", "store", "time_store"),
)
CLIP_NOTE = "With one inner step clip is 0 by construction."


def _no_hint(_: Reading) -> str:
    return ""


def _no_legend(_: Reading) -> Sequence[LegendEntry]:
    return ()


def _no_note(_: TrainConfig | None) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class PlotSpec:
    """One plot. `metric` is the one that its tooltip defines and its summary tells; `scale` turns stored into shown."""

    key: str
    title: str
    metric: str
    layers: Callable[[RunSeries, TrainConfig | None], list[Layer]]
    headline: Callable[[Reading], str]
    hint: Callable[[Reading], str] = _no_hint
    legend: Callable[[Reading], Sequence[LegendEntry]] = _no_legend  # instead of the layers' own
    note: Callable[[TrainConfig | None], str] = _no_note  # stands inside the plot
    more: str = ""  # after the definition in the tooltip
    scale: float = 1.0
    suffix: str = ""  # of the tick labels
    include: tuple[float, ...] = ()  # shown values that must be in view
    log: bool = False
    metrics: tuple[str, ...] = ()  # whose gaps are marked; empty: only `metric`


def reward_sources(run: RunSeries) -> list[str]:
    """The reward sources that have curves of their own; a single one would repeat the reward, where there is one."""
    sources = [name.removeprefix("rewards/").removesuffix("/mean") for name in run.names if _is_source_mean(name)]
    return sources if len(sources) > 1 or not len(run.series("reward")) else []


def _is_source_mean(name: str) -> bool:
    return name.startswith("rewards/") and name.endswith("/mean")


def _reward_layers(run: RunSeries, _: TrainConfig | None) -> list[Layer]:
    spread = "reward_group_std" if len(run.series("reward_group_std")) else "reward_std"  # of older and other runs
    layers: list[Layer] = [PastLayer(), SpreadLayer("reward", spread, "mean", "spread")]
    layers.append(LineLayer("reward", "mean", "mean"))
    for place, source in enumerate(reward_sources(run)):
        color, dash = SOURCE_STYLES[min(place, len(SOURCE_STYLES) - 1)]
        layers.append(LineLayer(f"rewards/{source}/mean", color, source, dash=dash, shows_raw=False))
    if len(run.series("eval/reward")):
        layers.append(DotLayer("eval/reward", "held_out", "held-out"))
    return layers


def _clip_layers(run: RunSeries, _: TrainConfig | None) -> list[Layer]:
    if len(run.series("cispo_clip_ratio")):
        return [LineLayer("cispo_clip_ratio", "clip_high", "capped")]
    return [LineLayer("clip_ratio/low_mean", "clip_low", "low"), LineLayer("clip_ratio/high_mean", "clip_high", "high")]


def _clip_headline(reading: Reading) -> str:
    if len(reading.run.series("cispo_clip_ratio")):
        return percent(reading.value("cispo_clip_ratio"))
    low, high = (reading.value(name) for name in ("clip_ratio/low_mean", "clip_ratio/high_mean"))
    return NOTHING if math.isnan(low) and math.isnan(high) else f"{number(100 * low, 1)} / {number(100 * high, 1)} %"


def _clip_note(config: TrainConfig | None) -> str:
    return CLIP_NOTE if config is not None and config.num_iterations == 1 else ""


def _kl_layers(run: RunSeries, _: TrainConfig | None) -> list[Layer]:
    """The mean, and the largest value of a token where a run recorded it."""
    mean = LineLayer("kl", "mean", "mean")
    return [mean, LineLayer("kl/max", "maximum", "max")] if len(run.series("kl/max")) else [mean]


def _time_layers(run: RunSeries, _: TrainConfig | None) -> list[Layer]:
    """The parts of a step's time on each other; the whole alone where a run did not record the parts."""
    if len(run.series("step_time")) and not any(len(run.series(name)) for name, _, _ in TIME_PARTS):
        return [LineLayer("step_time", "mean")]
    return [StackLayer([(name, color) for name, _, color in TIME_PARTS])]


def _norm_layers(_: RunSeries, config: TrainConfig | None) -> list[Layer]:
    layers: list[Layer] = [LineLayer("grad_norm", "mean")]
    if config is not None and config.max_grad_norm > 0:
        layers.append(ThresholdLayer(config.max_grad_norm, f"clip at {config.max_grad_norm:g}"))
    return layers


def _length_hint(reading: Reading) -> str:
    share = reading.newest("completions/clipped_ratio")
    if math.isnan(share) or reading.config is None:
        return "tokens"
    count = round(share * reading.config.prompts_per_step * reading.config.num_generations)
    return f"tokens, {count} truncated"


def _time_legend(reading: Reading) -> Sequence[LegendEntry]:
    known = [(reading.value(name), text, color) for name, text, color in TIME_PARTS if len(reading.run.series(name))]
    return [LegendEntry(f"{text} {_milliseconds(value)}", color, "area", 0.62) for value, text, color in known]


def _milliseconds(seconds: float) -> str:
    value = 1000 * seconds
    return number(value, 1 if value < 9.95 else 0)


SPECS: tuple[PlotSpec, ...] = (
    PlotSpec(
        "reward",
        "Reward",
        "reward",
        _reward_layers,
        lambda reading: number(reading.value("reward")),
        hint=lambda r: "" if r.step is None else f"held-out {number(r.around('eval/reward'))}",
        more="The band reaches half of the mean spread inside a group to either side (where a run did not record that, "
        "half of the spread over all completions of the step). "
        "Dots are the reward on held-out prompts.",
    ),
    PlotSpec(
        "clip",
        "Clipped",
        "clip_ratio/region_mean",
        _clip_layers,
        _clip_headline,
        note=_clip_note,
        scale=100,
        suffix=" %",
        include=(0.0,),
        metrics=("clip_ratio/low_mean", "clip_ratio/high_mean"),
    ),
    PlotSpec(
        "kl",
        "KL",
        "kl",
        _kl_layers,
        lambda reading: significant(reading.value("kl"), 2),
        hint=lambda reading: (
            f"max {significant(reading.value('kl/max'), 2)}" if len(reading.run.series("kl/max")) else ""
        ),
        log=True,
        metrics=("kl", "kl/max"),
    ),
    PlotSpec(
        "entropy",
        "Entropy",
        "entropy",
        lambda _, __: [LineLayer("entropy", "mean")],
        lambda reading: number(reading.value("entropy")),
        hint=lambda _: "nats per token",
        include=(0.0,),
    ),
    PlotSpec(
        "loss",
        "Loss",
        "loss",
        lambda _, __: [LineLayer("loss", "mean")],
        lambda reading: number(reading.value("loss"), 3),
        hint=lambda _: "mean near 0 is normal",
    ),
    PlotSpec(
        "norm",
        "Gradient norm",
        "grad_norm",
        _norm_layers,
        lambda reading: number(reading.value("grad_norm")),
        more="A gradient above the dashed line is scaled down to it.",
        include=(0.0,),
    ),
    PlotSpec(
        "length",
        "Length",
        "completions/mean_length",
        lambda _, __: [
            RangeLayer("completions/min_length", "completions/max_length", "mean", "min to max"),
            LineLayer("completions/mean_length", "mean"),
        ],
        lambda reading: number(reading.value("completions/mean_length"), 1),
        hint=_length_hint,
        more="The area reaches from the shortest to the longest completion of the step.",
        include=(0.0,),
    ),
    PlotSpec(
        "time",
        "Step time",
        "step_time",
        _time_layers,
        lambda reading: f"{_milliseconds(reading.value('step_time'))} ms",
        legend=_time_legend,
        scale=1000,
        include=(0.0,),
    ),
)
