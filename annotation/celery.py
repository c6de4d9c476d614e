"""The Celery application. Messages are JSON and carry ids only."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation.settings")

app = Celery("personafeedback")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
