"""What items are counted with is written in another form: everything is counted anew when next somebody looks."""

from django.db import migrations

_FORGET = """
    DELETE FROM review_tally;
    DELETE FROM review_tallydue;
    UPDATE review_item SET pattern = '' WHERE pattern <> '';
    INSERT INTO review_tallydue (campaign_id, first, last)
    SELECT campaign_id, min(id), max(id) FROM review_item GROUP BY campaign_id;
"""


class Migration(migrations.Migration):
    dependencies = [("review", "0015_study_rules")]

    operations = [migrations.RunSQL(_FORGET, _FORGET)]
