"""Backwards only: seats held ahead, which the version before does not know, are given back.

Apart from the change of the table: PostgreSQL alters none with changes under way.
"""

from django.db import migrations

GIVE_BACK = """
UPDATE annotation_pairseats seats SET free = free + held.number
FROM (SELECT pair_id, count(*) AS number FROM annotation_assignment
      WHERE state = 'open' AND is_ahead AND purpose = 'vote' GROUP BY pair_id) held
WHERE held.pair_id = seats.pair_id;
UPDATE annotation_assignment SET state = 'expired' WHERE state = 'open' AND is_ahead;
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0006_seat_ahead")]
    operations = [migrations.RunSQL(migrations.RunSQL.noop, reverse_sql=GIVE_BACK)]
