"""The administrator is signed in."""

from tests import people

client = people.as_administrator
