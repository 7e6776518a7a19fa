"""Drives a server with the Python client 1.x and prints what it saw as one JSON object; run.py judges it.

    python drive_py1.py default PLAN -- COMMAND…|URL      PLAN see run.py
"""
from __future__ import annotations

import json
import sys
import time
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError
from mcp.types import ResourceListChangedNotification, ResourceTemplateReference, ServerNotification


async def call(session: ClientSession, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await session.call_tool(tool, arguments)
    except McpError as error:
        return {"code": error.error.code, "message": error.error.message}
    return {"isError": result.isError, "structured": result.structuredContent, "text": "\n".join(part.text for part in result.content)}


async def read(session: ClientSession, uri: Any) -> str:
    return "\n".join(part.text for part in (await session.read_resource(uri)).contents)


async def see_context(session: ClientSession, plan: dict[str, Any]) -> dict[str, Any]:
    try:
        missing: dict[str, Any] = {"text": await read(session, plan["missing"])}
    except McpError as error:
        missing = {"code": error.error.code}
    template, argument, context = plan["complete"]
    contents = [message.content for message in (await session.get_prompt(*plan["prompt"])).messages]
    return {
        "resources": [[str(row.uri), await read(session, row.uri)] for row in (await session.list_resources()).resources],
        "missing": missing,
        "templates": [row.uriTemplate for row in (await session.list_resource_templates()).resourceTemplates],
        "prompts": [row.name for row in (await session.list_prompts()).prompts],
        "prompt": [[None, part.text] if part.type == "text" else [str(part.resource.uri), part.resource.text] for part in contents],
        "completed": (await session.complete(ResourceTemplateReference(type="ref/resource", uri=template), argument, context)).completion.values,
    }


@asynccontextmanager
async def connect(target: list[str], token: str | None, told: anyio.Event) -> Any:
    """(the session, what initialize was answered)."""
    async def hear(message: Any) -> None:
        if isinstance(message, ServerNotification) and isinstance(message.root, ResourceListChangedNotification):
            told.set()

    if target[0].startswith("http:"):
        transport: Any = streamablehttp_client(target[0], headers={"Authorization": f"Bearer {token}"} if token else {})
    else:
        transport = stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
    async with transport as (read, write, *_), ClientSession(read, write, message_handler=hear) as session:
        yield session, await session.initialize()


def innermost(error: BaseException) -> str:
    while getattr(error, "exceptions", None):  # a group
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def main(plan: dict[str, Any], target: list[str]) -> None:
    refused, told = None, anyio.Event()
    if plan.get("token"):
        try:
            async with connect(target, None, told) as (session, _):
                await session.list_tools()
        except Exception as error:
            refused = innermost(error)
    async with connect(target, plan.get("token"), told) as (session, opened):
        seen = {
            "protocol": opened.protocolVersion,
            "tools": [{"name": tool.name, "outputSchema": tool.outputSchema} for tool in (await session.list_tools()).tools],
            "calls": [await call(session, tool, arguments) for tool, arguments in plan["calls"]],
            "refused": refused,
            **await see_context(session, plan),
        }
        if plan.get("change"):
            await anyio.run_process(plan["change"])
            with anyio.move_on_after(20):
                await told.wait()
            seen["told"] = told.is_set()
        closing = time.monotonic()
    seen["closeSeconds"] = time.monotonic() - closing
    print(json.dumps(seen))


anyio.run(main, json.loads(sys.argv[2]), sys.argv[4:])
