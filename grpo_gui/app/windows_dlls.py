"""Windows: torch's libraries fail to load once Qt has loaded its own (pytorch#166628), so they come first."""

import ctypes
import importlib.util
import logging
import platform
from pathlib import Path

logger = logging.getLogger(__name__)


def preload_torch() -> None:
    """Load torch's core library without importing torch; does nothing elsewhere than on Windows."""
    if platform.system() != "Windows":
        return
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return
    library = Path(spec.origin).parent / "lib" / "c10.dll"
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        logger.warning("%s could not be loaded before Qt (%s); torch may fail to load later.", library, error)
