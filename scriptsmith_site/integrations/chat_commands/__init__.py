"""Slash commands of Slack and Mattermost: they find verified scripts, and decide nothing."""
