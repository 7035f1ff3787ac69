"""Files in and out: records in lines, JSON and tables, none of them ever read whole."""
