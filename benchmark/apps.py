from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BenchmarkConfig(AppConfig):
    name = "benchmark"
    verbose_name = _("Benchmark")
