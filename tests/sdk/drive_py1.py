"""Drives a stdio server with the Python client 1.x and prints what it saw as one JSON object; run.py judges it.

    python drive_py1.py default ASKED -- COMMAND…      ASKED {calls: [[tool, arguments], …], missing: uri, prompt: [name, arguments],
                                                              complete: [template, argument, context]}
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
from mcp.types import ResourceTemplateReference


async def call(session: ClientSession, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await session.call_tool(tool, arguments)
    except McpError as error:
        return {"code": error.error.code, "message": error.error.message}
    return {"isError": result.isError, "structured": result.structuredContent, "text": "\n".join(part.text for part in result.content)}


async def read(session: ClientSession, uri: Any) -> str:
    return "\n".join(part.text for part in (await session.read_resource(uri)).contents)


async def see_context(session: ClientSession, asked: dict[str, Any]) -> dict[str, Any]:
    try:
        missing: dict[str, Any] = {"text": await read(session, asked["missing"])}
    except McpError as error:
        missing = {"code": error.error.code}
    template, argument, context = asked["complete"]
    contents = [message.content for message in (await session.get_prompt(*asked["prompt"])).messages]
    return {
        "resources": [[str(row.uri), await read(session, row.uri)] for row in (await session.list_resources()).resources],
        "missing": missing,
        "templates": [row.uriTemplate for row in (await session.list_resource_templates()).resourceTemplates],
        "prompts": [row.name for row in (await session.list_prompts()).prompts],
        "prompt": [[None, part.text] if part.type == "text" else [str(part.resource.uri), part.resource.text] for part in contents],
        "completed": (await session.complete(ResourceTemplateReference(type="ref/resource", uri=template), argument, context)).completion.values,
    }


async def main(asked: dict[str, Any], command: list[str]) -> None:
    async with stdio_client(StdioServerParameters(command=command[0], args=command[1:])) as (read, write):
        async with ClientSession(read, write) as session:
            seen = {
                "protocol": (await session.initialize()).protocolVersion,
                "tools": [{"name": tool.name, "outputSchema": tool.outputSchema} for tool in (await session.list_tools()).tools],
                "calls": [await call(session, tool, arguments) for tool, arguments in asked["calls"]],
                **await see_context(session, asked),
            }
        closing = time.monotonic()
    seen["closeSeconds"] = time.monotonic() - closing
    print(json.dumps(seen))


anyio.run(main, json.loads(sys.argv[2]), sys.argv[4:])
