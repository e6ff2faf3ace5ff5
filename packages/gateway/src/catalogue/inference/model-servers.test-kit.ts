import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** What a service was asked. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export interface ModelServerOptions {
  readonly key: string;
  /** What the model says, piece by piece. */
  readonly pieces: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Breaks off after the pieces. */
  readonly breaksOff?: boolean;
  /** Does not say what was used. */
  readonly countsNothing?: boolean;
  readonly seen: SeenRequest[];
}

/** Speaks the Messages interface of Anthropic, as far as a stream of text needs it. */
export function anthropicServer(options: ModelServerOptions): RequestListener {
  return serveJson(options, (request, response) => {
    if (request.headers['x-api-key'] !== options.key)
      return refuse(response, { type: 'authentication_error', message: 'invalid x-api-key' });
    const send = openStream(response);
    const usage =
      options.countsNothing === true ? {} : { usage: { input_tokens: options.inputTokens, output_tokens: 1 } };
    send(
      { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], ...usage } },
      'message_start',
    );
    send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start');
    send({ type: 'ping' }, 'ping');
    for (const text of options.pieces)
      send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta');
    if (options.breaksOff === true) return void response.destroy();
    send({ type: 'content_block_stop', index: 0 }, 'content_block_stop');
    const counted = options.countsNothing === true ? {} : { usage: { output_tokens: options.outputTokens } };
    send(
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, ...counted },
      'message_delta',
    );
    send({ type: 'message_stop' }, 'message_stop');
    response.end();
  });
}

/** Speaks the chat completions of OpenAI. */
export function openAiServer(options: ModelServerOptions): RequestListener {
  return serveJson(options, (request, response) => {
    if (request.headers.authorization !== `Bearer ${options.key}`)
      return refuse(response, { message: 'Incorrect API key provided', type: 'invalid_request_error' });
    const send = openStream(response);
    const chunk = (choices: readonly unknown[], more: object = {}) =>
      send({ id: 'c1', object: 'chat.completion.chunk', choices, ...more });
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], { usage: null });
    for (const content of options.pieces)
      chunk([{ index: 0, delta: { content }, finish_reason: null }], { usage: null });
    if (options.breaksOff === true) return void response.destroy();
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], { usage: null });
    const { inputTokens, outputTokens } = options;
    if (options.countsNothing !== true)
      chunk([], { usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens } });
    response.end('data: [DONE]\n\n');
  });
}

function serveJson({ seen }: ModelServerOptions, answer: RequestListener): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      seen.push({ path: request.url ?? '', headers: request.headers, body });
      answer(request, response);
    });
  };
}

function refuse(response: ServerResponse, error: object): void {
  response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
}

function openStream(response: ServerResponse): (event: object, name?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return (event, name) =>
    void response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`);
}
