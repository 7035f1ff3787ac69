# expect: side_effect=read_only risk=low
psql -Atc "SELECT count(*) FROM pg_stat_activity WHERE state = 'active'"
