"""Fake vendors over real HTTP: OpenAI, Anthropic and Gemini on the loopback interface, for tests without a network.

They refuse what the real ones refuse, in the same words, and report usage the way the real ones do:

>>> from http.client import HTTPConnection
>>> from json import dumps, loads
>>> from compact.testing.vendors import FakeVendors, Reply
>>> with FakeVendors(window=1_000) as server:
...     server.reply(Reply("Hello!"))
...     client = HTTPConnection(server.host, server.port)
...     body = dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]})
...     client.request("POST", "/v1/chat/completions", body, {"Authorization": "Bearer any key"})
...     loads(client.getresponse().read())["choices"][0]["message"]["content"]
...     client.close()
'Hello!'

The official SDKs work unchanged: `OpenAI` wants `server.url + "/v1"` as its base URL, `Anthropic` `server.url`.

What the fakes simplify: any key and any model name is accepted. All vendors count with the same tokenizer (`count`):
the texts, four tokens of frame for a message (three and its role) and three for the reply, tool definitions as JSON, 85
for a picture, and a file by its name alone. `window` bounds the input, and the input together with the limit of the
answer where the vendor counts so: Anthropic, and Chat Completions but for Mistral and Perplexity.
"""

from compact.testing.vendors.fake import FakeVendors
from compact.testing.vendors.faults import Fault
from compact.testing.vendors.script import Received, Reply

__all__ = ["FakeVendors", "Fault", "Received", "Reply"]
