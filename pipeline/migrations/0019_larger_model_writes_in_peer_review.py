"""Reverse the models of the preset for peer review, if no user edited it and no run was started under it."""

from django.db import migrations

# Studies compare by name, so a configuration with runs keeps its models.
REVERSE_MODELS = """
WITH reversed AS (
    UPDATE pipeline_configuration AS configuration SET title = 'Opus writes, Sonnet assesses'
    WHERE name = 'claude-peer-review' AND title = 'Sonnet writes, Opus assesses' AND preset = 'peer_review'
        AND note = '' AND rounds = 1 AND uses_retrieval AND uses_examples AND NOT confirms_matches
        AND cases = 'off' AND prompts = '{}' AND archived_at IS NULL
        AND NOT EXISTS (SELECT FROM pipeline_run WHERE configuration_id = configuration.id)
        AND (
            SELECT count(*) = 3 AND bool_and(
                endpoint.name = 'claude' AND max_tokens = 4096 AND effort = '' AND temperature IS NULL
                AND model = CASE role WHEN 'assessor' THEN 'claude-opus-5-5' ELSE 'claude-sonnet-5-5' END
            )
            FROM pipeline_rolesetting JOIN pipeline_endpoint AS endpoint ON endpoint.id = endpoint_id
            WHERE configuration_id = configuration.id
        )
    RETURNING id
)
UPDATE pipeline_rolesetting
SET model = CASE role WHEN 'assessor' THEN 'claude-sonnet-5-5' ELSE 'claude-opus-5-5' END
FROM reversed WHERE configuration_id = reversed.id;
"""


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0001_squashed_0018_initial")]
    operations = [migrations.RunSQL(REVERSE_MODELS, migrations.RunSQL.noop)]
