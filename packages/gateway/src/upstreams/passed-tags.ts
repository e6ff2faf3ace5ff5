/** Marks what a client of MCP finds under resources and prompts rather than among the tools. No server can set these. */
export const passedTags = { resources: 'mcp-resources', prompt: 'mcp-prompt' } as const;
