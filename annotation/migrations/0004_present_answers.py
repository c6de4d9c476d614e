"""What the rows of an earlier version imply about the columns that are new."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_seat_of_an_annotator")]
    operations = [
        migrations.RunSQL(
            sql="""
            UPDATE annotation_assignment seat
            SET submitted_at = coalesce(judgement.submitted_at, judgement.created_at)
            FROM benchmark_judgement judgement
            WHERE judgement.id = seat.judgement_id AND seat.state = 'submitted';
            UPDATE annotation_campaign campaign SET guideline_version = newest.version
            FROM (SELECT campaign_id, max(version) AS version
                  FROM annotation_guideline GROUP BY campaign_id) newest
            WHERE newest.campaign_id = campaign.pair_set_id;
            """,
            reverse_sql=migrations.RunSQL.noop,
        ),
    ]
