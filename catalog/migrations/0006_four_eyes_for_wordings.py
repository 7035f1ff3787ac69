"""A wording that waits is found by an index; nobody confirms their own, but a team of one that may."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0005_fill_confirmations_and_risks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name="phrasing",
            index=models.Index(
                condition=models.Q(("confirmed_at", None)),
                fields=["id"],
                name="phrasing_to_confirm",
            ),
        ),
        migrations.AddConstraint(
            model_name="phrasing",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("confirmed_by", None),
                    models.Q(
                        ("confirmed_at__isnull", False),
                        models.Q(
                            ("added_by", None),
                            models.Q(("confirmed_by", models.F("added_by")), _negated=True),
                            ("self_confirmed", True),
                            _connector="OR",
                        ),
                    ),
                    _connector="OR",
                ),
                name="phrasing_four_eyes",
            ),
        ),
    ]
