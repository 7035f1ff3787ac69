from __future__ import annotations

from django.db import migrations

# The erasure services switch `scriptsmith.erasing` on for the rest of their own transaction.
REFUSE_CHANGES = """
CREATE FUNCTION refuse_audit_log_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('scriptsmith.erasing', true) = 'on' THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON auditlog_logentry
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_changes();
"""

ALLOW_CHANGES = """
DROP TRIGGER audit_log_append_only ON auditlog_logentry;
DROP FUNCTION refuse_audit_log_changes();
"""

# The audit page shows one kind of event, newest first.
INDEX_EVENTS = """
CREATE INDEX auditlog_logentry_event ON auditlog_logentry ((additional_data ->> 'event'), id);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("scriptsmith_site", "0001_initial"),
        ("auditlog", "0017_add_actor_email"),
    ]

    operations = [
        migrations.RunSQL(REFUSE_CHANGES, ALLOW_CHANGES),
        migrations.RunSQL(INDEX_EVENTS, "DROP INDEX auditlog_logentry_event;"),
    ]
