"""The log of events is append-only, whoever writes to the database."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_first"), ("benchmark", "0002_seat_in_range")]
    operations = [
        migrations.RunSQL(
            sql="""
            CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON annotation_event
                FOR EACH ROW EXECUTE FUNCTION benchmark_refuse_change();
            """,
            reverse_sql="DROP TRIGGER event_append_only ON annotation_event;",
        ),
    ]
