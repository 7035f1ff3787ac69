"""Days, times and reviews left are counted with the figures now: every item is due once more."""

from django.db import migrations

COUNT_ANEW = """
    INSERT INTO review_tallydue (item_id, campaign_id) SELECT id, campaign_id FROM review_item;
"""


class Migration(migrations.Migration):
    dependencies = [("review", "0006_fewer_indexes")]

    operations = [migrations.RunSQL(COUNT_ANEW, migrations.RunSQL.noop)]
