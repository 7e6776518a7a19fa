"""Drives a stdio server with the Python client 2.x and prints what it saw as one JSON object; run.py judges it.

    python drive_py2.py MODE CALLS -- COMMAND…      MODE auto | legacy | a protocol version; CALLS [[tool, arguments], …]
"""
from __future__ import annotations

import json
import sys
import time
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"code": error.code, "message": error.message}
    return {"isError": bool(result.is_error), "structured": result.structured_content, "text": "\n".join(part.text for part in result.content)}


async def main(mode: str, calls: list[list[Any]], command: list[str]) -> None:
    async with Client(StdioServerParameters(command=command[0], args=command[1:]), mode=mode) as client:
        seen = {
            "protocol": client.protocol_version,
            "tools": [{"name": tool.name, "outputSchema": tool.output_schema} for tool in (await client.list_tools()).tools],
            "calls": [await call(client, tool, arguments) for tool, arguments in calls],
        }
        closing = time.monotonic()
    seen["closeSeconds"] = time.monotonic() - closing
    print(json.dumps(seen))


anyio.run(main, sys.argv[1], json.loads(sys.argv[2]), sys.argv[4:])
