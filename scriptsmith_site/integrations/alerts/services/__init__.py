"""What pages, API, tasks and the door itself do with alerts and incidents."""
