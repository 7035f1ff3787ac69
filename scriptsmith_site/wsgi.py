"""The WSGI application that Gunicorn serves."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from core.preloading import check_database, load_ahead, settle_memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scriptsmith_site.settings")

application = get_wsgi_application()
check_database()
load_ahead()
settle_memory()
