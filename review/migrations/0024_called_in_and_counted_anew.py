"""How many reviewers an item wants because others differed; and what items are counted with has another form.

Everything is counted anew when next somebody looks.
"""

from django.db import migrations, models

# Who was called in here, and not by a file: a file's scores are marked.
_FILL = """
    UPDATE review_item item SET called_in = called.number
    FROM (
        SELECT assignment.item_id, count(*) AS number
        FROM review_assignment assignment
        WHERE assignment.reason = 'tie_break' AND NOT EXISTS (
            SELECT FROM review_score score WHERE score.assignment_id = assignment.id AND score.imported
        )
        GROUP BY assignment.item_id
    ) called
    WHERE item.id = called.item_id AND called.number < item.overlap;
"""
_FORGET = """
    DELETE FROM review_tally;
    DELETE FROM review_tallydue;
    UPDATE review_item SET pattern = '' WHERE pattern <> '';
    INSERT INTO review_tallydue (campaign_id, first, last)
    SELECT campaign_id, min(id), max(id) FROM review_item GROUP BY campaign_id;
"""


class Migration(migrations.Migration):
    dependencies = [("review", "0023_looks_with_state")]

    operations = [
        migrations.AddField(
            model_name="item",
            name="called_in",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL(_FILL, migrations.RunSQL.noop),
        migrations.RunSQL(_FORGET, _FORGET),
    ]
