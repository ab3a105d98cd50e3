'use strict';

/** An MCP server over standard input and output: tells its environment, and dies when it is asked to. */
const { Server } = require('@modelcontextprotocol/sdk/server/index.js');
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');
const { CallToolRequestSchema, ListToolsRequestSchema } = require('@modelcontextprotocol/sdk/types.js');

const server = new Server({ name: 'program', version: '1' }, { capabilities: { tools: {} } });
const inputSchema = { type: 'object' };

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    { name: 'environment', inputSchema },
    { name: 'die', inputSchema },
  ],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  if (params.name === 'die') process.exit(1);
  return { content: [{ type: 'text', text: JSON.stringify(process.env) }] };
});
server.connect(new StdioServerTransport());
