"""SQL that makes the audit log and the security log append-only.

Django's loader skips modules that begin with an underscore.
"""

from __future__ import annotations

from django.db import migrations

# The erasure services and the retention sweep switch `scriptsmith.erasing` on for the rest of their own transaction.
CREATE_FUNCTION = """
CREATE FUNCTION refuse_audit_log_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('scriptsmith.erasing', true) = 'on' THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
"""
CREATE_TRIGGERS = """
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON auditlog_logentry
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_changes();
CREATE TRIGGER security_log_append_only BEFORE UPDATE OR DELETE ON scriptsmith_site_securityevent
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_changes();
"""
DROP_TRIGGERS = """
DROP TRIGGER security_log_append_only ON scriptsmith_site_securityevent;
DROP TRIGGER audit_log_append_only ON auditlog_logentry;
"""
# The audit page shows one kind of event, newest first.
CREATE_EVENT_INDEX = """
CREATE INDEX auditlog_logentry_event ON auditlog_logentry ((additional_data ->> 'event'), id);
"""

OPERATIONS = [
    migrations.RunSQL(CREATE_FUNCTION, "DROP FUNCTION refuse_audit_log_changes();"),
    migrations.RunSQL(CREATE_TRIGGERS, DROP_TRIGGERS),
    migrations.RunSQL(CREATE_EVENT_INDEX, "DROP INDEX auditlog_logentry_event;"),
]
