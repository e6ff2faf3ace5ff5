// A small MCP server over standard input and output, as the upstream of a demonstration: a tracker of tickets.
import { createInterface } from 'node:readline';

const tickets = [
  { id: 'HB-101', title: 'Berth list is empty after midnight', state: 'open' },
  { id: 'HB-118', title: 'Invoice rounds half a cent up', state: 'open' },
  { id: 'HB-123', title: 'Tide table shows last week', state: 'closed' },
];
const text = (description) => ({ type: 'string', description });
const tools = [
  {
    name: 'search_tickets',
    description: 'Finds tickets by the words in their titles.',
    inputSchema: { type: 'object', properties: { query: text('Words to look for.') }, required: ['query'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'get_ticket',
    description: 'Shows one ticket.',
    inputSchema: { type: 'object', properties: { id: text('Such as HB-101.') }, required: ['id'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'create_ticket',
    description: 'Opens a new ticket.',
    inputSchema: {
      type: 'object',
      properties: {
        title: text('One line.'),
        body: text('What happened, and what should have.'),
        priority: { type: 'string', enum: ['low', 'normal', 'high'] },
        labels: { type: 'array', items: { type: 'string' } },
        estimate_hours: { type: 'number' },
        notify_team: { type: 'boolean' },
      },
      required: ['title'],
    },
  },
  {
    name: 'comment',
    description: 'Adds a comment to a ticket.',
    inputSchema: {
      type: 'object',
      properties: { id: text('The ticket.'), body: text('The comment.') },
      required: ['id', 'body'],
    },
  },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'harbour-tickets', version: '2.3.0' },
  }),
  'tools/list': () => ({ tools }),
  ping: () => ({}),
  'tools/call': ({ name, arguments: args = {} }) => ({
    content: [{ type: 'text', text: JSON.stringify(run(name, args)) }],
  }),
};

function run(name, { query = '', id, title }) {
  if (name === 'search_tickets')
    return tickets.filter((each) => each.title.toLowerCase().includes(query.toLowerCase()));
  if (name === 'create_ticket') return { id: 'HB-131', title, state: 'open' };
  return tickets.find((each) => each.id === id) ?? { problem: 'There is no such ticket.' };
}

process.stderr.write('harbour-tickets 2.3.0 is ready\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  if (method === 'tools/call') process.stderr.write(`${params.name} was called\n`);
  const result = answer ? { result: answer(params) } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...result })}\n`);
});
