"""What people are told: under the bell, by e-mail, in the kinds and at the hours that they choose."""
