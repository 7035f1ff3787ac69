"""numpy, loaded on first use: `from core.lazy_numpy import np`.

All processes import statistics and embedders, but few use them. numpy takes 15 MiB and a tenth of the startup time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _LazyNumpy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)  # later accesses do not call __getattr__
            return value

    np = _LazyNumpy()

__all__ = ["np"]
