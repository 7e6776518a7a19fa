"""What is told over HTTP when the library changes: from the moment that a subscription is acknowledged, or a session's stream is open."""
from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import unittest

from processes import ENVELOPE, FLAGS, PATIENCE, Remote, as_bytes, clean_env, entry, index, initialize, program, request, tool_call

CHANGED = "notifications/resources/list_changed"
TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
LISTEN = {**TYPES, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}


class ChangesOverHttp(unittest.TestCase):

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        self.put("first")
        self.start("--root", self.root)

    def start(self, *options: str) -> None:
        server = subprocess.Popen([sys.executable, *FLAGS, program(), "--http", "127.0.0.1:0", *options], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, env=clean_env())
        self.addCleanup(server.wait, PATIENCE)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.terminate)
        self.address = server.stdout.readline().decode().split("http://")[1].split("/")[0]

    def put(self, *ids: str) -> None:
        """What an import leaves behind: the new index takes the place of the old one."""
        with open(os.path.join(self.root, "new"), "wb") as file:
            file.write(as_bytes(index(*map(entry, ids))))
        os.replace(file.name, os.path.join(self.root, "index.json"))

    def ask(self, method: str, headers: dict[str, str], message: object = None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request(method, "/mcp", None if message is None else json.dumps(message), headers)
        response = connection.getresponse()
        self.addCleanup(response.close)
        return response

    def event(self, stream: http.client.HTTPResponse) -> dict[str, object]:
        """The next message of an event stream. Raises AssertionError when there is none for so long that the server shows a sign of life."""
        for line in iter(stream.readline, b""):
            self.assertFalse(line.startswith(b":"), "nothing is told")
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        raise AssertionError("the stream has ended")

    def test_a_subscription_hears_of_a_change_right_after_its_acknowledgement(self) -> None:
        params = {"_meta": ENVELOPE, "notifications": {"resourcesListChanged": True}}
        stream = self.ask("POST", LISTEN, request("subscriptions/listen", params, "L"))
        self.assertEqual(self.event(stream)["params"]["notifications"], {"resourcesListChanged": True})
        self.put("first", "second")
        told = self.event(stream)
        self.assertEqual((told["method"], told["params"]["_meta"]), (CHANGED, {"io.modelcontextprotocol/subscriptionId": "L"}))

    def test_a_subscription_hears_that_a_remote_index_that_was_asked_once_has_changed(self) -> None:
        with Remote({"/index.json": index(entry("first"))}) as remote:
            self.start("--index-url", remote.url, "--cache-ttl", "1")
            call = tool_call("catalog_releases", {"id": "first"}, _meta=ENVELOPE)
            self.ask("POST", {**TYPES, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "catalog_releases"}, call).read()
            params = {"_meta": ENVELOPE, "notifications": {"resourcesListChanged": True}}
            stream = self.ask("POST", LISTEN, request("subscriptions/listen", params, "L"))
            self.event(stream)
            remote.routes["/index.json"] = index(entry("second"))
            self.assertEqual(self.event(stream)["method"], CHANGED)

    def test_a_session_hears_of_a_change_right_after_its_stream_is_open(self) -> None:
        session = self.ask("POST", TYPES, initialize("2025-11-25")).headers["Mcp-Session-Id"]
        stream = self.ask("GET", {**TYPES, "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session})
        self.assertEqual(stream.status, 200)
        self.put("first", "second")
        self.assertEqual(self.event(stream), {"jsonrpc": "2.0", "method": CHANGED})


if __name__ == "__main__":
    unittest.main()
