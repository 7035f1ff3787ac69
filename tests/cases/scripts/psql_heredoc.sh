# expect: destructive@4 destructive@5 mutating@3
psql app <<SQL
UPDATE users SET active = false WHERE id = 7;
DELETE FROM sessions;
TRUNCATE TABLE logs;
SQL
