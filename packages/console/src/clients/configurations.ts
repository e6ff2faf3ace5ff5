export interface ClientConfiguration {
  readonly title: string;
  /** Where it goes. */
  readonly note: string;
  readonly text: string;
}

/** Ready to be pasted, for the address of this gate. */
export function clientConfigurations(token: string, origin = location.origin): readonly ClientConfiguration[] {
  const address = `${origin}/mcp`;
  const server = { type: 'http', url: address, headers: { Authorization: `Bearer ${token}` } };
  return [
    {
      title: 'Claude Code',
      note: 'Run it in the folder of the project.',
      text: `claude mcp add --transport http sallyport ${address} --header 'Authorization: Bearer ${token}'`,
    },
    {
      title: 'Any client with an mcpServers file',
      note: 'Such as .mcp.json in a project, or the settings of an editor.',
      text: JSON.stringify({ mcpServers: { sallyport: server } }, null, 2),
    },
    {
      title: 'Codex',
      note: 'In ~/.codex/config.toml, with the token in the environment.',
      text: `# export SALLYPORT_TOKEN=${token}\n[mcp_servers.sallyport]\nurl = "${address}"\nbearer_token_env_var = "SALLYPORT_TOKEN"`,
    },
    {
      title: 'Over standard input and output',
      note: 'For clients that start a command.',
      text: `SALLYPORT_TOKEN=${token} npx sallyport mcp`,
    },
  ];
}
