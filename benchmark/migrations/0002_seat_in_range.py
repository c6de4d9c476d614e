"""A judgement's seat is bounded by its own pair's number of raters.

Django has no foreign key over two columns, and a check constraint cannot look into another table.
With this key, `judgement_seat_in_range` (seat <= raters_per_pair) compares with the pair's number,
and lowering that number below a used seat is refused.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0001_first")]
    operations = [
        migrations.RunSQL(
            sql="""
            ALTER TABLE benchmark_judgement
                ADD CONSTRAINT judgement_raters_of_pair
                FOREIGN KEY (pair_id, raters_per_pair)
                REFERENCES benchmark_pair (id, raters_per_pair) ON UPDATE CASCADE;
            """,
            reverse_sql="""
            ALTER TABLE benchmark_judgement DROP CONSTRAINT judgement_raters_of_pair;
            """,
        ),
        # Votes are never changed or taken away: a correction is a new judgement.
        migrations.RunSQL(
            sql="""
            CREATE FUNCTION benchmark_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
                    USING ERRCODE = 'restrict_violation';
            END $$;
            CREATE TRIGGER vote_append_only BEFORE UPDATE OR DELETE ON benchmark_vote
                FOR EACH ROW EXECUTE FUNCTION benchmark_refuse_change();
            """,
            reverse_sql="""
            DROP TRIGGER vote_append_only ON benchmark_vote;
            DROP FUNCTION benchmark_refuse_change();
            """,
        ),
    ]
