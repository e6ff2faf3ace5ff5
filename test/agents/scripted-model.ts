// A model that does as it is told: a server of Anthropic's Messages API which has its client use the tools of a list, one
// after the other, and writes down what each use gave.
// scripted-model.ts FILE: the list is in FILE, as JSON; the results go to FILE.results. Prints its port.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Use {
  readonly name: string;
  readonly input: object;
}

interface Request {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

interface Block {
  readonly type: string;
  readonly content?: unknown;
  readonly is_error?: boolean;
}

const [file = ''] = process.argv.slice(2);
const uses = JSON.parse(readFileSync(file, 'utf8')) as readonly Use[];

const server = createServer((incoming, outgoing) => {
  void text(incoming).then((body) => answer(incoming.url ?? '', body, outgoing));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

function answer(url: string, body: string, response: ServerResponse): void {
  if (!url.includes('/v1/messages') || url.includes('count_tokens'))
    return sendJson(response, { input_tokens: 1, data: [] });
  const request = JSON.parse(body) as Request;
  const results = request.messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
  );
  if (results.length > 0) writeFileSync(`${file}.results`, JSON.stringify(results));
  const next = uses[results.length];
  // Side questions, such as for a title, come without tools.
  const use = next !== undefined && request.tools?.some(({ name }) => name === next.name) ? next : undefined;
  const block =
    use === undefined
      ? { type: 'text', text: 'Done.' }
      : { type: 'tool_use', id: `use_${results.length}`, name: use.name, input: use.input };
  const message = {
    ...{ id: 'm', type: 'message', role: 'assistant', model: request.model, content: [block] },
    ...{ stop_reason: use === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  if (request.stream !== true) return sendJson(response, message);
  stream(response, message, block);
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function stream(
  response: ServerResponse,
  message: object,
  block: { type: string; text?: string; input?: object },
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event: { readonly type: string; readonly [member: string]: unknown }): void => {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const { stop_reason: stopReason } = message as { readonly stop_reason: string };
  send({ type: 'message_start', message: { ...message, content: [], stop_reason: null } });
  const isText = block.type === 'text';
  send({
    type: 'content_block_start',
    index: 0,
    content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} },
  });
  const delta = isText
    ? { type: 'text_delta', text: block.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
  send({ type: 'content_block_delta', index: 0, delta });
  send({ type: 'content_block_stop', index: 0 });
  send({ type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 1 } });
  send({ type: 'message_stop' });
  response.end();
}
