"""The people who judge and their work; also the Django project."""

from annotation.celery import app as celery_app

__all__ = ["celery_app"]
