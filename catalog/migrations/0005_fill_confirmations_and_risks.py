"""What stood there when a version was verified was confirmed with it; no risk is below the worst finding."""

from django.db import migrations

# The author of a wording is not known any more: the version's author stands for them, as four eyes held for the
# version. What came after the last verification waits.
_CONFIRM = """
UPDATE catalog_phrasing AS phrasing
SET added_by_id = version.author_id,
    confirmed_by_id = version.verified_by_id,
    confirmed_at = version.verified_at,
    self_confirmed = version.self_verified
FROM (
    SELECT DISTINCT ON (entry_id) entry_id, author_id, verified_by_id, verified_at, self_verified
    FROM catalog_version WHERE verified_at IS NOT NULL ORDER BY entry_id, verified_at DESC
) AS version
WHERE version.entry_id = phrasing.entry_id AND phrasing.created_at <= version.verified_at
"""
# The rule of catalog.analysis.least_risk as it was at this migration.
_RAISE = """
UPDATE catalog_version AS version SET risk = found.least
FROM (
    SELECT id, CASE
        WHEN bool_or(finding->>'level' = 'error' OR finding->>'check' IN ('risk', 'characters')
            AND finding->>'code' IN ('destructive', 'remote_code', 'unsafe_variable', 'secrets'))
        THEN 'high' ELSE 'medium' END AS least
    FROM catalog_version, jsonb_array_elements(findings) AS finding
    WHERE finding->>'outcome' = 'failed' AND (
        finding->>'level' = 'error'
        OR finding->>'level' = 'warning' AND finding->>'check' IN ('risk', 'characters')
    )
    GROUP BY id
) AS found
WHERE found.id = version.id AND (version.risk = 'low' OR version.risk = 'medium' AND found.least = 'high')
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0004_who_confirmed_a_wording")]

    operations = [
        migrations.RunSQL(_CONFIRM, migrations.RunSQL.noop),
        migrations.RunSQL(_RAISE, migrations.RunSQL.noop),
    ]
