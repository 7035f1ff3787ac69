"""numpy, loaded when it is first used: `from core.lazy_numpy import np`.

Statistics and embedders are known to every process and used by few. numpy takes 15 MiB and a tenth of the start.
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
            setattr(self, name, value)  # found without this method from now on
            return value

    np = _LazyNumpy()

__all__ = ["np"]
