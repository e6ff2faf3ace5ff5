// A model that does as it is told: it has its client use the tools of a list, one after the other, and writes down what
// each use gave. It speaks the four APIs that the agents speak.
// scripted-model.ts FILE: the list is in FILE, as JSON; the results go to FILE.results. Prints its port.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Use {
  readonly name: string;
  readonly input: object;
  /** Codex: the input is text, not JSON. */
  readonly isText?: boolean;
}

type Message = Readonly<Record<string, unknown>>;

/** One API: how it names tools, tells results, and is answered. */
interface Api {
  readonly isFor: (url: string) => boolean;
  readonly toolsOf: (request: Message) => readonly string[];
  readonly resultsOf: (request: Message) => readonly unknown[];
  readonly answer: (response: ServerResponse, use: Use | undefined, turn: number, request: Message) => void;
}

const [file = ''] = process.argv.slice(2);
const uses = JSON.parse(readFileSync(file, 'utf8')) as readonly Use[];
const done = 'Done.';
const list = (value: unknown): readonly Message[] => (Array.isArray(value) ? (value as readonly Message[]) : []);

const anthropic: Api = {
  isFor: (url) => url.includes('/v1/messages') && !url.includes('count_tokens'),
  toolsOf: ({ tools }) => list(tools).map(({ name }) => String(name)),
  resultsOf: ({ messages }) =>
    list(messages).flatMap(({ content }) => list(content).filter(({ type }) => type === 'tool_result')),
  answer: (response, use, turn, { model, stream }) => {
    const block =
      use === undefined
        ? { type: 'text', text: done }
        : { type: 'tool_use', id: `use_${turn}`, name: use.name, input: use.input };
    const stopReason = use === undefined ? 'end_turn' : 'tool_use';
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: 'm', type: 'message', role: 'assistant', model, stop_sequence: null, usage };
    if (stream !== true) return sendJson(response, { ...message, content: [block], stop_reason: stopReason });
    const delta =
      use === undefined
        ? { type: 'text_delta', text: done }
        : { type: 'input_json_delta', partial_json: JSON.stringify(use.input) };
    const start = use === undefined ? { type: 'text', text: '' } : { ...block, input: {} };
    sendEvents(response, [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: start },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]);
  },
};

const responses: Api = {
  isFor: (url) => url.includes('/responses'),
  toolsOf: ({ tools }) => list(tools).map(({ name, type }) => String(name ?? type)),
  resultsOf: ({ input }) =>
    list(input).filter(({ type }) => /^(?:function|custom_tool)_call_output$/.test(String(type))),
  answer: (response, use, turn) => {
    const call = { id: `fc_${turn}`, call_id: `call_${process.pid}_${turn}`, name: use?.name };
    const item =
      use === undefined
        ? { type: 'message', role: 'assistant', id: 'm1', content: [{ type: 'output_text', text: done }] }
        : use.isText === true
          ? { type: 'custom_tool_call', ...call, input: Object.values(use.input)[0] as string }
          : { type: 'function_call', ...call, arguments: JSON.stringify(use.input) };
    const usage = {
      input_tokens: 1,
      input_tokens_details: null,
      output_tokens: 1,
      output_tokens_details: null,
      total_tokens: 2,
    };
    sendEvents(response, [
      { type: 'response.created', response: { id: 'r1' } },
      { type: 'response.output_item.done', item },
      { type: 'response.completed', response: { id: 'r1', usage } },
    ]);
  },
};

const gemini: Api = {
  isFor: (url) => /enerateContent/.test(url),
  toolsOf: ({ tools }) =>
    list(tools).flatMap((each) => list(each['functionDeclarations']).map(({ name }) => String(name))),
  resultsOf: ({ contents }) =>
    list(contents).flatMap(({ parts }) => list(parts).filter(({ functionResponse }) => functionResponse !== undefined)),
  answer: (response, use, _turn, request) => {
    const isJson = (request['generationConfig'] as Message | undefined)?.['responseMimeType'] === 'application/json';
    const routed = '{"complexity_reasoning":"x","complexity_score":1,"reasoning":"x","model_choice":"flash"}';
    const part =
      use === undefined ? { text: isJson ? routed : done } : { functionCall: { name: use.name, args: use.input } };
    const body = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    if (isJson) return sendJson(response, body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(body)}\n\n`);
  },
};

const chat: Api = {
  isFor: (url) => url.includes('/chat/completions'),
  toolsOf: ({ tools }) => list(tools).map((each) => String((each['function'] as Message)['name'])),
  resultsOf: ({ messages }) => list(messages).filter(({ role }) => role === 'tool'),
  answer: (response, use, turn, { model }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, reason: string | null = null): void => {
      const choices = [{ index: 0, delta, finish_reason: reason }];
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model, choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    if (use === undefined) {
      send({ role: 'assistant', content: done });
      send({}, 'stop');
    } else {
      const call = { name: use.name, arguments: JSON.stringify(use.input) };
      const calls = [{ index: 0, id: `call_${process.pid}_${turn}`, type: 'function', function: call }];
      send({ role: 'assistant', tool_calls: calls });
      send({}, 'tool_calls');
    }
    response.end('data: [DONE]\n\n');
  },
};

const apis = [anthropic, responses, gemini, chat];

const server = createServer((incoming, outgoing) => {
  void text(incoming).then((body) => answer(incoming.url ?? '', body, outgoing));
});
server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'));
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

function answer(url: string, body: string, response: ServerResponse): void {
  const api = apis.find(({ isFor }) => isFor(url));
  if (api === undefined || body === '')
    return sendJson(response, { input_tokens: 1, totalTokens: 1, data: [], models: [] });
  const request = JSON.parse(body) as Message;
  const results = api.resultsOf(request);
  if (results.length > 0) writeFileSync(`${file}.results`, JSON.stringify(results));
  const next = uses[results.length];
  const tools = api.toolsOf(request);
  if (tools.length > 0) writeFileSync(`${file}.tools`, JSON.stringify(tools));
  // Side questions, such as for a title, come without tools.
  api.answer(response, next !== undefined && tools.includes(next.name) ? next : undefined, results.length, request);
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function sendEvents(response: ServerResponse, events: readonly (Message & { readonly type: string })[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}
