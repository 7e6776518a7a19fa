// Drives a server with the TypeScript client 1.x and prints what it saw as one JSON object; run.py judges it.
//
//     node drive_ts1.mjs default PLAN -- COMMAND…|URL      PLAN see run.py
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const [, given, , target, ...args] = process.argv.slice(2);
const plan = JSON.parse(given);
const seen = { protocol: null, tools: [], calls: [] };

async function connect(token) {
  const client = new Client({ name: 'doctrove-tests', version: '1.0.0' });
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const transport = target.startsWith('http:')
    ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } })
    : new StdioClientTransport({ command: target, args });
  // This client has no getter for the negotiated version; it tells it to a transport that wants to know.
  const set = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = version => { seen.protocol = version; set?.(version); };
  await client.connect(transport);
  return client;
}

async function call(client, name, args) {
  try {
    const { isError = false, structuredContent = null, content } = await client.callTool({ name, arguments: args });
    return { isError, structured: structuredContent, text: content.map(part => part.text).join('\n') };
  } catch ({ code, message }) {
    return { code, message };
  }
}

async function read(client, uri) {
  return (await client.readResource({ uri })).contents.map(part => part.text).join('\n');
}

async function seeContext(client) {
  const { resources } = await client.listResources();
  const [template, argument, context] = plan.complete;
  const [name, args] = plan.prompt;
  return {
    resources: await Promise.all(resources.map(async ({ uri }) => [uri, await read(client, uri)])),
    missing: await read(client, plan.missing).then(text => ({ text }), ({ code }) => ({ code })),
    templates: (await client.listResourceTemplates()).resourceTemplates.map(row => row.uriTemplate),
    prompts: (await client.listPrompts()).prompts.map(row => row.name),
    prompt: (await client.getPrompt({ name, arguments: args })).messages
      .map(({ content }) => content.type === 'text' ? [null, content.text] : [content.resource.uri, content.resource.text]),
    completed: (await client.complete({ ref: { type: 'ref/resource', uri: template }, argument, context: { arguments: context } })).completion.values,
  };
}

// Whether the client is told that the resources have changed, by what the command does.
async function change(client, [command, ...args]) {
  const told = new Promise(resolve => client.setNotificationHandler(ResourceListChangedNotificationSchema, () => resolve(true)));
  await promisify(execFile)(command, args);
  return Promise.race([told, new Promise(resolve => setTimeout(resolve, 20000, false).unref())]);
}

seen.refused = plan.token ? await connect(null).then(() => null, ({ name, status, code, message }) => `${name} ${status ?? code}: ${message}`) : null;
const client = await connect(plan.token);
seen.tools = (await client.listTools()).tools.map(({ name, outputSchema = null }) => ({ name, outputSchema }));
for (const [name, args] of plan.calls) seen.calls.push(await call(client, name, args));
Object.assign(seen, await seeContext(client));
if (plan.change) seen.told = await change(client, plan.change);
const closing = performance.now();
await client.close();
seen.closeSeconds = (performance.now() - closing) / 1000;
console.log(JSON.stringify(seen));
