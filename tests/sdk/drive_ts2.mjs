// Drives a stdio server with the TypeScript client 2.x and prints what it saw as one JSON object; run.py judges it.
//
//     node drive_ts2.mjs MODE CALLS -- COMMAND…      MODE default | auto | pin; CALLS [[tool, arguments], …]
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, calls, , command, ...args] = process.argv.slice(2);
const options = {
  default: undefined,
  auto: { versionNegotiation: { mode: 'auto' } },
  pin: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
};

async function call(client, name, args) {
  try {
    const { isError = false, structuredContent = null, content } = await client.callTool({ name, arguments: args });
    return { isError, structured: structuredContent, text: content.map(part => part.text).join('\n') };
  } catch ({ code, message }) {
    return { code, message };
  }
}

const client = new Client({ name: 'doctrove-tests', version: '1.0.0' }, options[mode]);
await client.connect(new StdioClientTransport({ command, args }));
const seen = {
  protocol: client.getNegotiatedProtocolVersion(),
  tools: (await client.listTools()).tools.map(({ name, outputSchema = null }) => ({ name, outputSchema })),
  calls: [],
};
for (const [name, args] of JSON.parse(calls)) seen.calls.push(await call(client, name, args));
const closing = performance.now();
await client.close();
seen.closeSeconds = (performance.now() - closing) / 1000;
console.log(JSON.stringify(seen));
