"""Drives a server with the Python client 2.x and prints what it saw as one JSON object; run.py judges it.

    python drive_py2.py MODE PLAN -- COMMAND…|URL      MODE auto | legacy | a protocol version; PLAN see run.py
"""
from __future__ import annotations

import json
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceListChangedNotification, ResourceTemplateReference


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"code": error.code, "message": error.message}
    return {"isError": bool(result.is_error), "structured": result.structured_content, "text": "\n".join(part.text for part in result.content)}


async def read(client: Client, uri: Any) -> str:
    return "\n".join(part.text for part in (await client.read_resource(uri)).contents)


async def see_context(client: Client, plan: dict[str, Any]) -> dict[str, Any]:
    try:
        missing: dict[str, Any] = {"text": await read(client, plan["missing"])}
    except MCPError as error:
        missing = {"code": error.code}
    template, argument, context = plan["complete"]
    contents = [message.content for message in (await client.get_prompt(*plan["prompt"])).messages]
    return {
        "resources": [[str(row.uri), await read(client, row.uri)] for row in (await client.list_resources()).resources],
        "missing": missing,
        "templates": [row.uri_template for row in (await client.list_resource_templates()).resource_templates],
        "prompts": [row.name for row in (await client.list_prompts()).prompts],
        "prompt": [[None, part.text] if part.type == "text" else [str(part.resource.uri), part.resource.text] for part in contents],
        "completed": (await client.complete(ResourceTemplateReference(type="ref/resource", uri=template), argument, context)).completion.values,
    }


@asynccontextmanager
async def connect(mode: str, target: list[str], token: str | None, told: anyio.Event) -> Any:
    async def hear(message: Any) -> None:
        if isinstance(message, ResourceListChangedNotification):
            told.set()

    async with AsyncExitStack() as stack:
        server: Any = StdioServerParameters(command=target[0], args=target[1:])
        if target[0].startswith("http:"):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            server = streamable_http_client(target[0], http_client=await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60)))
        yield await stack.enter_async_context(Client(server, mode=mode, message_handler=hear))


def innermost(error: BaseException) -> str:
    while getattr(error, "exceptions", None):  # a group
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def change(client: Client, command: list[str], told: anyio.Event) -> bool:
    """Whether the client is told that the resources have changed, by what the command does."""
    with anyio.move_on_after(20):
        if client.protocol_version >= "2026":
            async with client.listen(resources_list_changed=True) as subscription:
                await anyio.run_process(command)
                async for event in subscription:
                    return type(event).__name__ == "ResourcesListChanged"
        await anyio.run_process(command)
        await told.wait()
        return True
    return False


async def main(mode: str, plan: dict[str, Any], target: list[str]) -> None:
    refused, told = None, anyio.Event()
    if plan.get("token"):
        try:
            async with connect(mode, target, None, told) as client:
                await client.list_tools()
        except Exception as error:
            refused = innermost(error)
    async with connect(mode, target, plan.get("token"), told) as client:
        seen = {
            "protocol": client.protocol_version,
            "tools": [{"name": tool.name, "outputSchema": tool.output_schema} for tool in (await client.list_tools()).tools],
            "calls": [await call(client, tool, arguments) for tool, arguments in plan["calls"]],
            "refused": refused,
            **await see_context(client, plan),
        }
        if plan.get("change"):
            seen["told"] = await change(client, plan["change"], told)
        closing = time.monotonic()
    seen["closeSeconds"] = time.monotonic() - closing
    print(json.dumps(seen))


anyio.run(main, sys.argv[1], json.loads(sys.argv[2]), sys.argv[4:])
