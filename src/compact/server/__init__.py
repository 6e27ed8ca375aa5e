"""The server behind `compact serve`: the API, the page, the gateway and the traces."""
