"""Drives a stdio server with the Python client 1.x and prints what it saw as one JSON object; run.py judges it.

    python drive_py1.py default CALLS -- COMMAND…      CALLS [[tool, arguments], …]
"""
from __future__ import annotations

import json
import sys
import time
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import McpError


async def call(session: ClientSession, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await session.call_tool(tool, arguments)
    except McpError as error:
        return {"code": error.error.code, "message": error.error.message}
    return {"isError": result.isError, "structured": result.structuredContent, "text": "\n".join(part.text for part in result.content)}


async def main(calls: list[list[Any]], command: list[str]) -> None:
    async with stdio_client(StdioServerParameters(command=command[0], args=command[1:])) as (read, write):
        async with ClientSession(read, write) as session:
            seen = {
                "protocol": (await session.initialize()).protocolVersion,
                "tools": [{"name": tool.name, "outputSchema": tool.outputSchema} for tool in (await session.list_tools()).tools],
                "calls": [await call(session, tool, arguments) for tool, arguments in calls],
            }
        closing = time.monotonic()
    seen["closeSeconds"] = time.monotonic() - closing
    print(json.dumps(seen))


anyio.run(main, json.loads(sys.argv[2]), sys.argv[4:])
