"""The last item a person was given is found without counting all; how far they came is counted in 4096ths."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0007_count_all_anew")]

    operations = [
        migrations.AddIndex(
            "assignment",
            models.Index(
                fields=["reviewer", "id"],
                name="assignment_last_of_reviewer",
                condition=models.Q(position__gt=0),
            ),
        ),
        migrations.RunSQL(
            "UPDATE review_member SET reached = reached * 16 WHERE reached <> 0",
            "UPDATE review_member SET reached = reached / 16 WHERE reached <> 0",
        ),
    ]
