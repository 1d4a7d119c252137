"""The router policy: learn which model should answer a query. Names that need torch are loaded when first used."""

from grpo_gui.router.context import RoutingContext
from grpo_gui.router.reference import GRPORouterPolicy, GRPOSample, GRPOState
from grpo_gui.router.registry import RouterPolicyRegistry, ensure_registered

__all__ = [
    "GRPORouterPolicy",
    "GRPOSample",
    "GRPOState",
    "RouterPolicyRegistry",
    "RoutingContext",
    "ensure_registered",
]
