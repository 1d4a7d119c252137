"""Build script: maps the top-level resources/ folder into the package, which pyproject.toml cannot express."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["grpo_gui*"]), "grpo_gui.resources"],
    package_dir={"grpo_gui.resources": "resources"},
    package_data={"grpo_gui.resources": ["**/*"]},
)
