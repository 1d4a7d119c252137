"""The registry of router policies."""

import subprocess
import sys

import pytest

from grpo_gui.router import GRPORouterPolicy, RouterPolicyRegistry, ensure_registered


@pytest.fixture(autouse=True)
def _empty():
    RouterPolicyRegistry.clear()
    yield
    RouterPolicyRegistry.clear()


def test_that_ensure_registered_adds_the_policy_once_under_grpo():
    assert not RouterPolicyRegistry.contains("grpo")
    ensure_registered()
    ensure_registered()
    assert RouterPolicyRegistry.keys() == ("grpo",)
    assert RouterPolicyRegistry.get("grpo") is GRPORouterPolicy


def test_that_create_makes_a_policy_with_options():
    ensure_registered()
    policy = RouterPolicyRegistry.create("grpo", learning_rate=0.5)
    policy.add_sample("short", "a", 1.0)
    policy.add_sample("short", "b", 0.0)
    policy.update()
    assert policy.state.weights["a"]["short"] == 0.5


def test_that_a_name_is_given_once_and_unknown_ones_are_named():
    RouterPolicyRegistry.register_value("mine", dict)
    with pytest.raises(ValueError, match="named 'mine' already"):
        RouterPolicyRegistry.register_value("mine", list)
    with pytest.raises(KeyError, match="no router policy named 'grpo'"):
        RouterPolicyRegistry.get("grpo")


def test_that_ensure_registered_leaves_another_policy_of_that_name():
    RouterPolicyRegistry.register_value("grpo", dict)
    ensure_registered()
    assert RouterPolicyRegistry.get("grpo") is dict


def test_that_importing_the_router_does_not_import_torch():
    modules = "grpo_gui.router, grpo_gui.router.policy, grpo_gui.router.replay"
    code = f"import sys, {modules}; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
