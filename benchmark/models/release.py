from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from benchmark.models.pair_set import PairSet
from benchmark.models.run import Run


class Release(models.Model):
    """An immutable export of one aggregation: the same rows give the same bytes."""

    pair_set = models.ForeignKey(PairSet, models.PROTECT, related_name="releases")
    version = models.CharField(
        _("version"),
        max_length=40,
        validators=[
            RegexValidator(
                r"^[0-9A-Za-z][0-9A-Za-z.+-]*\Z",
                _("Use letters, digits, dots, plus and minus, as in 1.0.0."),
            )
        ],
    )
    # What the raters were told, as it stood when the release was started.
    guidelines = models.TextField(_("guidelines"), blank=True)
    # The aggregation whose verdicts it holds, and the job that writes the files.
    aggregation = models.ForeignKey(Run, models.PROTECT, related_name="releases")
    job = models.OneToOneField(Run, models.PROTECT, related_name="release")
    # Filled when the files are complete.
    digest = models.CharField(_("digest of the manifest"), max_length=64, blank=True)
    counts: models.JSONField[dict[str, Any]] = models.JSONField(_("counts"), default=dict)
    size = models.PositiveBigIntegerField(_("bytes"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pair_set", "version"], name="release_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.pair_set_id} {self.version}"

    @property
    def is_ready(self) -> bool:
        return bool(self.digest)

    @property
    def folder(self) -> Path:
        """Where its files are kept."""
        return Path(settings.RELEASES_DIR) / self.pair_set.slug / self.name

    @property
    def archive(self) -> Path:
        """The same as one zip file."""
        return self.folder.with_name(f"{self.name}.zip")

    @property
    def name(self) -> str:
        return f"{self.pair_set.slug}-{self.version}"
