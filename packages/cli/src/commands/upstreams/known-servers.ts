/** A server that many people use, and what it needs. */
export interface KnownServer {
  readonly name: string;
  readonly about: string;
  /** The package that it is. Absent: it runs elsewhere. */
  readonly npm?: string;
  readonly url?: string;
  /** What it may do with the paths among its arguments. Absent: it takes none. */
  readonly paths?: 'read' | 'write';
  /** Whether it is of no use without such a path. */
  readonly needsPath?: boolean;
  readonly hosts?: readonly string[];
  /** Stored secrets that it gets as variables. */
  readonly secrets?: readonly string[];
}

/**
 * Grants here are proposals: the person sees them and can give others. A server gets no more than it cannot do without.
 * By name.
 */
export const knownServers: readonly KnownServer[] = [
  {
    name: 'brave-search',
    about: 'web search by Brave',
    npm: '@brave/brave-search-mcp-server',
    hosts: ['api.search.brave.com'],
    secrets: ['BRAVE_API_KEY'],
  },
  {
    name: 'context7',
    about: 'documentation of libraries',
    npm: '@upstash/context7-mcp',
    hosts: ['context7.com', 'mcp.context7.com'],
  },
  {
    name: 'everything',
    about: 'every feature of the protocol, to try out',
    npm: '@modelcontextprotocol/server-everything',
  },
  {
    name: 'filesystem',
    about: 'files of the folders that it is given',
    npm: '@modelcontextprotocol/server-filesystem',
    paths: 'write',
    needsPath: true,
  },
  { name: 'github', about: 'repositories, issues and pull requests', url: 'https://api.githubcopilot.com/mcp/' },
  { name: 'linear', about: 'issues and projects', url: 'https://mcp.linear.app/mcp' },
  {
    name: 'notion',
    about: 'pages and databases',
    npm: '@notionhq/notion-mcp-server',
    hosts: ['api.notion.com'],
    secrets: ['NOTION_TOKEN'],
  },
  { name: 'sentry', about: 'errors and their traces', url: 'https://mcp.sentry.dev/mcp' },
  {
    name: 'sequential-thinking',
    about: 'a scratchpad for reasoning in steps',
    npm: '@modelcontextprotocol/server-sequential-thinking',
  },
  { name: 'stripe', about: 'payments', url: 'https://mcp.stripe.com' },
  {
    name: 'tavily',
    about: 'web search by Tavily',
    npm: 'tavily-mcp',
    hosts: ['api.tavily.com'],
    secrets: ['TAVILY_API_KEY'],
  },
];

export function findKnown(name: string): KnownServer | undefined {
  return knownServers.find((server) => server.name === name);
}

/** By the package, whatever version of it. */
export function findKnownPackage(name: string): KnownServer | undefined {
  return knownServers.find(({ npm }) => npm === name);
}
