"""The API, one module a subject: each has a `router`, which the application includes under `/api`."""
