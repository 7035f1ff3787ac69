"""A signed-in administrator for the tests in this folder."""

from tests import people

client = people.as_administrator
