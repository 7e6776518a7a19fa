// Drives a server with the TypeScript client 2.x and prints what it saw as one JSON object; run.py judges it.
//
//     node drive_ts2.mjs MODE PLAN -- COMMAND…|URL      MODE default | auto | pin; PLAN see run.py
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, given, , target, ...args] = process.argv.slice(2);
const plan = JSON.parse(given);
const options = {
  default: undefined,
  auto: { versionNegotiation: { mode: 'auto' } },
  pin: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
};

async function connect(token) {
  const client = new Client({ name: 'doctrove-tests', version: '1.0.0' }, options[mode]);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  await client.connect(target.startsWith('http:')
    ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } })
    : new StdioClientTransport({ command: target, args }));
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
  const told = new Promise(resolve => client.setNotificationHandler('notifications/resources/list_changed', () => resolve(true)));
  if (client.getNegotiatedProtocolVersion() >= '2026') await client.listen({ resourcesListChanged: true });
  await promisify(execFile)(command, args);
  return Promise.race([told, new Promise(resolve => setTimeout(resolve, 20000, false).unref())]);
}

const refused = plan.token ? await connect(null).then(() => null, ({ name, status, code, message }) => `${name} ${status ?? code}: ${message}`) : null;
const client = await connect(plan.token);
const seen = {
  protocol: client.getNegotiatedProtocolVersion(),
  tools: (await client.listTools()).tools.map(({ name, outputSchema = null }) => ({ name, outputSchema })),
  calls: [],
  refused,
};
for (const [name, args] of plan.calls) seen.calls.push(await call(client, name, args));
Object.assign(seen, await seeContext(client));
if (plan.change) seen.told = await change(client, plan.change);
const closing = performance.now();
await client.close();
seen.closeSeconds = (performance.now() - closing) / 1000;
console.log(JSON.stringify(seen));
