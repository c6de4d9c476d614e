"""Apart from filling the column: PostgreSQL alters no table with changes under way."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_present_answers")]
    operations = [
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "submitted"), ("submitted_at__isnull", False)),
                    models.Q(("state__in", ["open", "expired"]), ("submitted_at", None)),
                    _connector="OR",
                ),
                name="assignment_submitted_at_iff_submitted",
            ),
        ),
    ]
