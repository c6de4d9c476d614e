"""A rater may hold the next seat beside the one at work."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_submitted_at")]
    operations = [
        migrations.AddField(
            model_name="assignment",
            name="is_ahead",
            field=models.BooleanField(default=False, verbose_name="is ahead"),
        ),
        migrations.RemoveConstraint(
            model_name="assignment",
            name="assignment_one_open_a_rater",
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")),
                fields=("membership", "is_ahead"),
                name="assignment_one_open_a_rater",
            ),
        ),
    ]
