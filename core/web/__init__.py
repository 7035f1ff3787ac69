"""Code for requests and responses that the pages and the API of all apps share."""
