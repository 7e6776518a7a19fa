"""Clients over standard input and output are told when what is offered changes: the library, or a remote index."""
from __future__ import annotations

import os
import unittest

from processes import ENVELOPE, Remote, Server, entry, free_port, index, request, tool_call, write_index
from support import make_folder

CHANGED = "notifications/resources/list_changed"
LISTEN = request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {"resourcesListChanged": True, "toolsListChanged": True}}, "L")
SUBSCRIPTION = {"_meta": {"io.modelcontextprotocol/subscriptionId": "L"}}


class Changes(unittest.TestCase):

    def setUp(self):
        self.root = os.path.join(make_folder(self), "library")
        write_index(self.root, index(entry("pipe", "0.1.0")))

    def next_change(self, server, change):
        """The first message after `change(1)`, `change(2)` and so on: one that comes before the server has looked for the first time is not seen."""
        for number in range(1, 8):
            change(number)
            try:
                return server.next(patience=3)
            except AssertionError:
                continue
        change(8)
        return server.next()

    def change_library(self, number):
        write_index(self.root, index(entry("pipe", f"{number}.0.0")))

    def test_a_handshake_client_hears_that_the_library_has_changed(self):
        with Server("--root", self.root).open() as server:
            self.assertEqual(self.next_change(server, self.change_library), {"jsonrpc": "2.0", "method": CHANGED})

    def test_a_client_that_wants_to_hear_from_info_on_is_told_in_words_too(self):
        with Server("--root", self.root).open() as server:
            server.ask("logging/setLevel", {"level": "info"})
            message = self.next_change(server, self.change_library)
            self.assertEqual((message["method"], message["params"]["level"], message["params"]["logger"]), ("notifications/message", "info", "doctrove"))
            self.assertEqual(server.next(), {"jsonrpc": "2.0", "method": CHANGED})

    def test_a_client_that_wants_to_hear_of_warnings_hears_of_a_dead_remote_and_not_of_a_change(self):
        with Server("--index-url", f"http://127.0.0.1:{free_port()}/", "--root", self.root).open() as server:
            self.assertEqual(server.call("catalog_lookup", query="pipe")["structuredContent"]["total"], 1)
            server.ask("logging/setLevel", {"level": "warning"})
            server.call("catalog_lookup", query="pipe")
            message = server.next()
            self.assertEqual((message["method"], message["params"]["level"]), ("notifications/message", "warning"))
            self.assertIn("127.0.0.1", message["params"]["data"])
            self.assertEqual(self.next_change(server, self.change_library), {"jsonrpc": "2.0", "method": CHANGED})

    def test_a_subscription_hears_it_with_its_id_once_what_is_honoured_is_said(self):
        with Server("--root", self.root) as server:
            server.send(LISTEN)
            acknowledged = server.next()
            self.assertEqual((acknowledged["method"], acknowledged["params"]),
                             ("notifications/subscriptions/acknowledged", {**SUBSCRIPTION, "notifications": {"resourcesListChanged": True}}))
            self.assertEqual(self.next_change(server, self.change_library), {"jsonrpc": "2.0", "method": CHANGED, "params": SUBSCRIPTION})

    def test_both_hear_it_in_one_connection_and_a_cancelled_subscription_does_not(self):
        with Server("--root", self.root).open() as server:
            server.send(LISTEN)
            server.next()
            first = self.next_change(server, self.change_library)
            self.assertEqual([message.get("params") for message in (first, server.next())], [None, SUBSCRIPTION])
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "L"}})
            server.ask("ping", id="after")
            self.change_library(99)
            self.assertEqual(server.next(), {"jsonrpc": "2.0", "method": CHANGED})
            self.assertEqual(server.end().messages, [])

    def test_what_this_server_imports_itself_is_a_change_too(self):
        folder = make_folder(self)
        with open(os.path.join(folder, "a.md"), "w", encoding="utf-8") as file:
            file.write("# A\n\nText about pipes.\n")
        with Server("--root", self.root, "--allow", folder).open() as server:
            message = self.next_change(server, lambda number: server.send(tool_call("index_local", {"path": folder, "repo": f"own{number}"}, number)))
            while "id" in message:  # the answer of an import may come first
                self.assertIs(message["result"]["isError"], False)
                message = server.next()
            self.assertEqual(message, {"jsonrpc": "2.0", "method": CHANGED})

    def test_a_remote_index_is_asked_anew_when_its_copy_is_old_but_not_before_the_first_question(self):
        def change(number):
            remote.routes["/index.json"] = index(entry("pipe", f"{number}.0.0"))

        with Remote({"/index.json": index(entry("pipe", "0.1.0"))}) as remote, Server("--index-url", remote.url, "--cache-ttl", "1").open() as server:
            with self.assertRaises(AssertionError):
                server.next(patience=2.5)
            self.assertEqual(remote.log, [])
            server.call("catalog_releases", id="pipe")
            self.assertEqual(self.next_change(server, change), {"jsonrpc": "2.0", "method": CHANGED})

    def test_the_bundled_documentation_does_not_change_and_nobody_looks(self):
        with Server().open() as server:
            server.ask("ping")
            threads = f"/proc/{server.process.pid}/task"
            if not os.path.isdir(threads):
                self.skipTest("there is no /proc here, where the threads of a process can be counted")
            self.assertEqual(len(os.listdir(threads)), 1)


if __name__ == "__main__":
    unittest.main()
