import platform

from grpo_gui.language.memory import keep_freed_memory


def test_that_freed_memory_is_kept_where_malloc_can_be_told():
    assert keep_freed_memory() == (platform.libc_ver()[0] == "glibc")
