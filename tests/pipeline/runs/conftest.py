"""The reviewer is signed in."""

from tests import people

client = people.as_reviewer
