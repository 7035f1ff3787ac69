"""Slash commands of Slack and Mattermost that find verified scripts."""
