"""Drives a stdio server with the Python client 2.x and prints what it saw as one JSON object; run.py judges it.

    python drive_py2.py MODE ASKED -- COMMAND…      MODE auto | legacy | a protocol version; ASKED as for drive_py1.py
"""
from __future__ import annotations

import json
import sys
import time
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceTemplateReference


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"code": error.code, "message": error.message}
    return {"isError": bool(result.is_error), "structured": result.structured_content, "text": "\n".join(part.text for part in result.content)}


async def read(client: Client, uri: str) -> str:
    return "\n".join(part.text for part in (await client.read_resource(uri)).contents)


async def see_context(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    try:
        missing: dict[str, Any] = {"text": await read(client, asked["missing"])}
    except MCPError as error:
        missing = {"code": error.code}
    template, argument, context = asked["complete"]
    contents = [message.content for message in (await client.get_prompt(*asked["prompt"])).messages]
    return {
        "resources": [[row.uri, await read(client, row.uri)] for row in (await client.list_resources()).resources],
        "missing": missing,
        "templates": [row.uri_template for row in (await client.list_resource_templates()).resource_templates],
        "prompts": [row.name for row in (await client.list_prompts()).prompts],
        "prompt": [[None, part.text] if part.type == "text" else [part.resource.uri, part.resource.text] for part in contents],
        "completed": (await client.complete(ResourceTemplateReference(type="ref/resource", uri=template), argument, context)).completion.values,
    }


async def main(mode: str, asked: dict[str, Any], command: list[str]) -> None:
    async with Client(StdioServerParameters(command=command[0], args=command[1:]), mode=mode) as client:
        seen = {
            "protocol": client.protocol_version,
            "tools": [{"name": tool.name, "outputSchema": tool.output_schema} for tool in (await client.list_tools()).tools],
            "calls": [await call(client, tool, arguments) for tool, arguments in asked["calls"]],
            **await see_context(client, asked),
        }
        closing = time.monotonic()
    seen["closeSeconds"] = time.monotonic() - closing
    print(json.dumps(seen))


anyio.run(main, sys.argv[1], json.loads(sys.argv[2]), sys.argv[4:])
