"""Matrix products of the fast paths: oneDNN's on a CPU in float32 where it is not slower, torch's own elsewhere."""

import time
from collections.abc import Callable
from functools import cache
from typing import Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

_CLEARLY_SLOWER = 2.0  # far from a draw, so that timing noise cannot flip the choice and runs repeat their numbers
_TRIAL_SHAPE = (256, 128, 512)  # rows, in, out
_TRIALS = 20
_ONEDNN_OPERATORS = ("_linear_pointwise", "_reorder_linear_weight")  # not public: a build of torch may lack them
_PACKED_ROWS = 64  # the number of rows for which oneDNN chooses the order; others work too


class Context(Protocol):
    """What the autograd Functions of this package use of torch's untyped context."""

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What forward kept."""

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keep tensors for backward."""


def linear(rows: Tensor, weight: Tensor) -> Tensor:
    """`rows` (N, in) times `weight` (out, in) transposed: (N, out)."""
    if not _fits_onednn(rows):
        return F.linear(rows, weight)
    if _needs_gradient(rows, weight):
        product: Tensor = _Linear.apply(rows, weight)  # type: ignore[no-untyped-call]  # torch's own
        return product
    return _onednn(rows, weight)


def gated(rows: Tensor, gate: Tensor, up: Tensor) -> Tensor:
    """SwiGLU's first half: silu(rows gate^T) * (rows up^T); `rows` (N, in), the weights (out, in)."""
    if not _fits_onednn(rows):
        return F.silu(F.linear(rows, gate)) * F.linear(rows, up)
    if _needs_gradient(rows, gate, up):
        product: Tensor = _Gated.apply(rows, gate, up)  # type: ignore[no-untyped-call]  # torch's own
        return product
    return _onednn(rows, gate, "swish").mul_(_onednn(rows, up))


def rms_norm(rows: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Divide each row of (N, width) by its root mean square and scale it by `weight` (arXiv 1910.07467, eq. 4)."""
    if is_plain_float32(rows.device, rows.dtype) and _needs_gradient(rows, weight):
        normed: Tensor = _RMSNorm.apply(rows, weight, eps)  # type: ignore[no-untyped-call]  # torch's own
        return normed
    return F.rms_norm(rows, rows.shape[-1:], weight, eps)


def packed_for_reuse(weight: Tensor) -> Tensor:
    """`weight` (out, in) in the order that oneDNN computes with, for `linear` and `gated` without gradients.

    Worth its copy when a weight meets few rows many times.
    """
    if not _fits_onednn(weight):
        return weight
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, _PACKED_ROWS)
    return packed


@cache
def prefers_onednn() -> bool:
    """Whether oneDNN's product is there and not clearly slower than torch's; timed once, about 15 ms."""
    available = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]  # torch's own
    if not available or not all(hasattr(torch.ops.mkldnn, name) for name in _ONEDNN_OPERATORS):
        return False
    count, width, out = _TRIAL_SHAPE
    with torch.no_grad():
        rows, weight = torch.ones(count, width), torch.ones(out, width)
        # in turns, so that a busy machine slows both
        times = [(_seconds(_onednn, rows, weight), _seconds(F.linear, rows, weight)) for _ in range(_TRIALS)]
    return min(one for one, _ in times) < _CLEARLY_SLOWER * min(other for _, other in times)


def is_plain_float32(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether products are computed in float32 on the CPU: the case that has kernels of its own."""
    return device.type == "cpu" and dtype == torch.float32 and not torch.is_autocast_enabled("cpu")


def _fits_onednn(rows: Tensor) -> bool:
    return is_plain_float32(rows.device, rows.dtype) and prefers_onednn()


def _needs_gradient(*tensors: Tensor) -> bool:
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _onednn(rows: Tensor, weight: Tensor, activation: str = "none") -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, None, activation, [], "")
    return product


def _weight_gradient(gradient: Tensor, rows: Tensor) -> Tensor:
    """gradient^T rows, (out, in); oneDNN copies its transposed first factor, so that is the narrower one."""
    if gradient.shape[1] > rows.shape[1]:
        return _onednn(rows.t(), gradient.t()).t()
    return _onednn(gradient.t(), rows.t())


def _seconds(product: Callable[[Tensor, Tensor], Tensor], rows: Tensor, weight: Tensor) -> float:
    start = time.perf_counter()
    product(rows, weight)
    return time.perf_counter() - start


class _Linear(torch.autograd.Function):
    """oneDNN's product with gradients; without a Function it would return None gradients with a mere warning."""

    @staticmethod
    def forward(ctx: Context, rows: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(rows, weight)
        return _onednn(rows, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, Tensor]:
        rows, weight = ctx.saved_tensors
        return _onednn(gradient, weight.t()), _weight_gradient(gradient, rows)


class _Gated(torch.autograd.Function):
    """SwiGLU's first half; both factors share one product on the way back."""

    @staticmethod
    def forward(ctx: Context, rows: Tensor, gate: Tensor, up: Tensor) -> Tensor:
        opening, values = _onednn(rows, gate), _onednn(rows, up)
        activated = F.silu(opening)
        ctx.save_for_backward(rows, gate, up, opening, activated, values)
        return activated * values

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows, gate, up, opening, activated, values = ctx.saved_tensors
        joint = gradient.new_empty(len(gradient), 2 * gradient.shape[1])
        of_gate, of_up = joint.chunk(2, dim=1)
        torch.mul(gradient, activated, out=of_up)
        torch.ops.aten.silu_backward.grad_input(gradient * values, opening, grad_input=of_gate)
        of_rows = _onednn(joint, torch.cat((gate, up)).t())
        of_weights = _weight_gradient(joint, rows)
        of_gate_weight, of_up_weight = of_weights.chunk(2, dim=0)
        return of_rows, of_gate_weight, of_up_weight


class _RMSNorm(torch.autograd.Function):
    """The norm with half the passes over memory that torch's own takes on the way back."""

    @staticmethod
    def forward(ctx: Context, rows: Tensor, weight: Tensor, eps: float) -> Tensor:
        mean_square: Tensor = torch.linalg.vector_norm(rows, dim=-1, keepdim=True).square_().div_(rows.shape[-1])
        scale = mean_square.add_(eps).rsqrt_()
        normed = rows * scale
        ctx.save_for_backward(normed, scale, weight)
        return normed * weight

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        normed, scale, weight = ctx.saved_tensors
        of_weight = (gradient * normed).sum(0)
        of_normed = gradient * weight
        along = (of_normed * normed).mean(-1, keepdim=True)
        return of_normed.addcmul_(normed, along, value=-1).mul_(scale), of_weight, None
