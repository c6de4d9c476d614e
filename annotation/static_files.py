"""Static files under names that say what is in them."""

from django.contrib.staticfiles.storage import HashedFilesMixin
from whitenoise.storage import CompressedManifestStaticFilesStorage

_FROM = r"""(?P<matched>import(?P<names>\s[^'";]*?)\s*from\s*["'](?P<url>\./[^"']+)["']\s*;)"""
_BARE = r"""(?P<matched>import\s*["'](?P<url>\./[^"']+)["']\s*;)"""


class StaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped
    """Modules import each other by hashed names too: old ones never mix with new ones."""

    # Not `support_js_module_import_aggregation`, which would look into other packages' scripts as
    # well and fail on what stands in their comments.
    patterns = (
        *HashedFilesMixin.patterns,
        (
            "js/*.js",
            ((_FROM, 'import%(names)s from "%(url)s";'), (_BARE, 'import "%(url)s";')),
        ),
    )
