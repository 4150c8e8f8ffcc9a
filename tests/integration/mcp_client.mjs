// A client of the Model Context Protocol that shares no code with the server's SDK; prints what it saw as JSON.
// node mcp_client.mjs FOLDER sdk|client stdio COMMAND ARGUMENT… | … http URL TOKEN     (FOLDER: has node_modules)

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, kind, transport, target, ...rest] = process.argv.slice(2);
const required = createRequire(pathToFileURL(`${folder}/package.json`));
const name = `@modelcontextprotocol/${kind}`;
const paths =
  kind === "sdk"
    ? [`${name}/client/index.js`, `${name}/client/stdio.js`, `${name}/client/streamableHttp.js`]
    : [name, `${name}/stdio`, name];
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = paths.map((path) => required(path));

const client = new Client(
  { name: "independent", version: "1" },
  kind === "sdk" ? {} : { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
await client.connect(
  transport === "stdio"
    ? new StdioClientTransport({ command: target, args: rest })
    : new StreamableHTTPClientTransport(new URL(target), {
        requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } },
      }),
);
const call = (tool, parameters) => client.callTool({ name: tool, arguments: parameters });
const { tools } = await client.listTools(); // from now on the client checks answers against the output schemas
const listed = await call("dvwiki_list", {});
const { pages, reader } = listed.structuredContent;
const wanted = { page: pages[0].address, ...(reader ? { reader } : {}) };
console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    newest: (await call("dvwiki_match_failure", {})).structuredContent.causes[0].primary,
    page: (await call("dvwiki_get", wanted)).structuredContent,
    refused: await call("dvwiki_lint", { deep: true }),
    resource: (await client.readResource({ uri: "dvwiki://runs/latest" })).contents[0].text,
    prompt: (await client.getPrompt({ name: "triage_failure", arguments: {} })).messages[0].content.text,
  }),
);
await client.close();
