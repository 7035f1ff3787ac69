"""The product's own processes: started, watched, restarted, ended in order."""
