"""The official Python SDK's client against the gateway: prints what it saw as one JSON object."""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, key: str) -> None:
    progress: list[float] = []

    async def on_progress(value: float, total: float | None, message: str | None) -> None:
        progress.append(value)

    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=120)) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            tools = await client.list_tools()
            free = await client.call_tool("echo", {"n": 1})
            denied = await client.call_tool("drop", {})
            parked = await client.call_tool("pay", {"n": 2}, progress_callback=on_progress)
            many = await asyncio.gather(*(client.call_tool("echo", {"n": n}) for n in range(10)))
    print(
        json.dumps(
            {
                "tools": [tool.name for tool in tools.tools],
                "free": [part.text for part in free.content],
                "denied": [denied.is_error, denied.content[0].text],
                "parked": [part.text for part in parked.content],
                "progress": len(progress),
                "many": [result.content[0].text for result in many],
            }
        )
    )


asyncio.run(main(sys.argv[1], sys.argv[2]))
