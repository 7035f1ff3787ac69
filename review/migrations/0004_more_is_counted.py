from __future__ import annotations

from django.db import migrations, models

# What is counted of an item is more than before: all that was counted is due again.
COUNT_ANEW = """
    INSERT INTO review_tallydue (item_id, campaign_id)
    SELECT id, campaign_id FROM review_item WHERE pattern <> '';
    UPDATE review_item SET pattern = '' WHERE pattern <> '';
    DELETE FROM review_tally;
"""


class Migration(migrations.Migration):
    dependencies = [("review", "0003_campaigns_and_studies")]

    operations = [
        migrations.AlterField(
            model_name="tally",
            name="kind",
            field=models.CharField(
                choices=[
                    ("item", "Items by what they bring to the figures"),
                    ("values", "Items by the values given at a stage"),
                    ("pair", "Pairs of scores by two reviewers at a stage"),
                    ("joint", "Cases by what two of their arms bring"),
                    ("sum", "What adds up over items"),
                ],
                max_length=6,
            ),
        ),
        migrations.RunSQL(COUNT_ANEW, reverse_sql=COUNT_ANEW),
    ]
