import pytest
import torch
from torch.nn import functional as F

from grpo_gui.language import kernels

SHAPES = [(64, 32, 48), (7, 48, 32), (1, 16, 16)]


@pytest.fixture(params=[True, False], ids=["onednn", "torch"])
def chosen(request, monkeypatch):
    if request.param and not kernels.prefers_onednn():
        pytest.skip("oneDNN is not there or clearly slower on this processor")
    monkeypatch.setattr(kernels, "prefers_onednn", lambda: request.param)


def values(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("chosen")
def test_that_linear_equals_torchs_with_its_gradients(shape):
    count, width, out = shape
    rows, weight = values(count, width).requires_grad_(), values(out, width).requires_grad_()
    gradient = values(count, out)
    found = torch.autograd.grad(kernels.linear(rows, weight), (rows, weight), gradient)
    expected = torch.autograd.grad(F.linear(rows, weight), (rows, weight), gradient)
    torch.testing.assert_close(kernels.linear(rows, weight), F.linear(rows, weight))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("chosen")
def test_that_gated_equals_swiglu_with_its_gradients(shape):
    count, width, out = shape
    inputs = [values(count, width), values(out, width), values(out, width + 0).flip(0).contiguous()]
    inputs = [each.requires_grad_() for each in inputs]
    rows, gate, up = inputs
    gradient = values(count, out)
    plain = F.silu(F.linear(rows, gate)) * F.linear(rows, up)
    with torch.no_grad():
        torch.testing.assert_close(kernels.gated(rows, gate, up), plain.detach(), atol=1e-4, rtol=1e-4)
    found = torch.autograd.grad(kernels.gated(rows, gate, up), inputs, gradient)
    expected = torch.autograd.grad(plain, inputs, gradient)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_that_the_norm_equals_torchs_with_its_gradients(shape):
    count, width, _ = shape
    rows, weight = values(count, width).requires_grad_(), values(width).requires_grad_()
    gradient = values(count, width)
    plain = F.rms_norm(rows, (width,), weight, 1e-5)
    torch.testing.assert_close(kernels.rms_norm(rows, weight, 1e-5), plain)
    found = torch.autograd.grad(kernels.rms_norm(rows, weight, 1e-5), (rows, weight), gradient)
    expected = torch.autograd.grad(plain, (rows, weight), gradient)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("count", [1, 64, 200])
@pytest.mark.usefixtures("chosen")
def test_that_a_packed_weight_gives_the_same_product(count):
    rows, weight = values(count, 32), values(48, 32)
    with torch.inference_mode():
        found = kernels.linear(rows, kernels.packed_for_reuse(weight))
        torch.testing.assert_close(found, F.linear(rows, weight), atol=1e-5, rtol=1e-5)


def test_that_other_dtypes_take_torchs_own_product():
    rows, weight = values(4, 8).double(), values(3, 8).double()
    assert torch.equal(kernels.linear(rows, weight), F.linear(rows, weight))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert kernels.linear(rows.float(), weight.float()).dtype == torch.bfloat16
