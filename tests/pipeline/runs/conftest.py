"""A signed-in reviewer for the tests in this folder."""

from tests import people

client = people.as_reviewer
