"""Keeps freed memory in the process: on glibc fresh pages for every large tensor cost about a twentieth of a step."""

import ctypes
import platform

# names and values of glibc's malloc.h
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_MMAP_THRESHOLD = 32 << 20  # the largest that glibc takes: only larger tensors get pages of their own
_TRIM_THRESHOLD = 1 << 30
_TOP_PAD = 64 << 20


def keep_freed_memory() -> bool:
    """Let malloc keep freed memory for the next step instead of handing it back; True where that can be set.

    Holds for the whole process, which then keeps up to 1 GB that it does not use. Does nothing without glibc.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    settings = (
        (_M_MMAP_THRESHOLD, _MMAP_THRESHOLD),
        (_M_TRIM_THRESHOLD, _TRIM_THRESHOLD),
        (_M_TOP_PAD, _TOP_PAD),
    )
    return all(mallopt(name, value) == 1 for name, value in settings)
