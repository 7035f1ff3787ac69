"""What gunicorn serves."""

from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scriptsmith_site.settings")

application = get_wsgi_application()
# What is loaded by now stays for good: the processes share it, and nobody looks through it for waste.
gc.collect()
gc.freeze()
