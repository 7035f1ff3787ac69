import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scriptsmith_site", "0008_alerts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AgentCallCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("call", "Call"), ("report", "Report"), ("request", "Request")],
                        max_length=10,
                    ),
                ),
                ("count", models.PositiveIntegerField(default=0)),
                ("since", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="AgentPause",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("only", models.BooleanField(default=True, editable=False, unique=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="apitoken",
            name="api_token_scopes_legal",
        ),
        migrations.AlterField(
            model_name="apitoken",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("read", "Read"),
                        ("ask", "Ask for scripts"),
                        ("review", "Review"),
                        ("curate", "Curate"),
                        ("manage", "Manage campaigns"),
                        ("metrics", "Read /metrics and nothing else"),
                        ("agent_read", "Agents: find, take and verify verified scripts"),
                        ("report_outcome", "Agents: say how a script went"),
                        ("request_script", "Agents: ask for a script"),
                    ],
                    max_length=20,
                ),
                size=None,
                verbose_name="scopes",
            ),
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "scopes__contained_by",
                        [
                            "read",
                            "ask",
                            "review",
                            "curate",
                            "manage",
                            "metrics",
                            "agent_read",
                            "report_outcome",
                            "request_script",
                        ],
                    ),
                    ("scopes__len__gte", 1),
                ),
                name="api_token_scopes_legal",
            ),
        ),
        migrations.AddField(
            model_name="agentcallcount",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="agentpause",
            name="by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="agentcallcount",
            constraint=models.UniqueConstraint(
                fields=("user", "kind"), name="agent_call_count_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="agentcallcount",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["call", "report", "request"])),
                name="agent_call_count_kind_legal",
            ),
        ),
        migrations.AddConstraint(
            model_name="agentpause",
            constraint=models.CheckConstraint(
                condition=models.Q(("only", True)), name="agent_pause_only"
            ),
        ),
    ]
