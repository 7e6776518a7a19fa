// Drives a stdio server with the TypeScript client 1.x and prints what it saw as one JSON object; run.py judges it.
//
//     node drive_ts1.mjs default CALLS -- COMMAND…      CALLS [[tool, arguments], …]
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [, calls, , command, ...args] = process.argv.slice(2);
const seen = { protocol: null, tools: [], calls: [] };

async function call(client, name, args) {
  try {
    const { isError = false, structuredContent = null, content } = await client.callTool({ name, arguments: args });
    return { isError, structured: structuredContent, text: content.map(part => part.text).join('\n') };
  } catch ({ code, message }) {
    return { code, message };
  }
}

const client = new Client({ name: 'doctrove-tests', version: '1.0.0' });
const transport = new StdioClientTransport({ command, args });
// This client has no getter for the negotiated version; it tells it to a transport that wants to know.
transport.setProtocolVersion = version => { seen.protocol = version; };
await client.connect(transport);
seen.tools = (await client.listTools()).tools.map(({ name, outputSchema = null }) => ({ name, outputSchema }));
for (const [name, args] of JSON.parse(calls)) seen.calls.push(await call(client, name, args));
const closing = performance.now();
await client.close();
seen.closeSeconds = (performance.now() - closing) / 1000;
console.log(JSON.stringify(seen));
