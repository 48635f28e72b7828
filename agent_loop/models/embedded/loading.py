"""Which library runs the weights here, and what to type where none is."""

import platform
from importlib.util import find_spec
from pathlib import Path

from agent_loop.errors import ModelUnavailable
from agent_loop.models.embedded.runtime import Runtime


def installed_runtime() -> str:
    """`cyllama` or `llama_cpp`, whichever is there.

    Raises:
        ModelUnavailable: neither; the message says what to type on this machine.
    """
    for package in ("cyllama", "llama_cpp"):
        if find_spec(package) is None:
            continue
        if package == "cyllama" and lacks_avx2(_cpuinfo()):
            # Its wheels use these instructions unasked: the process would be killed.
            continue
        return package
    if find_spec("cyllama") is not None:
        raise ModelUnavailable(
            "embedded: this processor has no AVX2, which cyllama needs. "
            "Type: pip install 'agent-loop[llamacpp]' (needs a C++ compiler and some minutes)."
        )
    raise ModelUnavailable(f"embedded: {missing_runtime(platform.system(), platform.machine())}")


def missing_runtime(system: str, machine: str) -> str:
    """What to type where no runtime is installed. Wheels of cyllama as of 0.2.18 and 0.7.0."""
    wheels = {
        ("Linux", "x86_64"),
        ("Darwin", "arm64"),
        ("Darwin", "x86_64"),
        ("Windows", "AMD64"),
    }
    if (system, machine) in wheels and not _is_musl():
        return "no runtime is installed. Type: pip install 'agent-loop[embedded]'"
    where = f"{system} {machine}" + (" with musl" if _is_musl() else "")
    return (
        f"cyllama has no wheel for {where}. Type: pip install 'agent-loop[llamacpp]' "
        "(needs a C++ compiler and some minutes), or use ollama."
    )


def lacks_avx2(cpuinfo: str) -> bool:
    """Whether Linux's /proc/cpuinfo says so; an empty or foreign text does not."""
    flags = [line for line in cpuinfo.splitlines() if line.startswith("flags")]
    return bool(flags) and not any("avx2" in line.split() for line in flags)


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _is_musl() -> bool:
    return platform.system() == "Linux" and not platform.libc_ver()[0]


def load_runtime(path: Path, *, n_ctx: int, threads: int) -> Runtime:
    """Load the weights; 0.2 seconds when the file is in the page cache.

    Raises:
        ModelUnavailable: the file or the library cannot be used.
    """
    package = installed_runtime()
    try:
        # Here, not above: whoever uses Ollama needs neither library.
        if package == "cyllama":
            from agent_loop.models.embedded.cyllama_runtime import (  # noqa: PLC0415
                CyllamaRuntime,
            )

            return CyllamaRuntime(path, n_ctx=n_ctx, threads=threads)
        from agent_loop.models.embedded.llamacpp_runtime import LlamaCppRuntime  # noqa: PLC0415

        return LlamaCppRuntime(path, n_ctx=n_ctx, threads=threads)
    except (ImportError, OSError, RuntimeError, ValueError, MemoryError) as error:
        raise ModelUnavailable(
            f"embedded: {package} could not load {path.name}: {error}"
        ) from error
