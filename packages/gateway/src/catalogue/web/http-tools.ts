import { modesOutsideLockdown } from '../../call/session.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { defineTool } from '../define-tool.ts';
import {
  keepBytes,
  limitProperties,
  outputSchema,
  presentAnswer,
  presentHeaders,
  presentText,
  receiveBody,
  summarizeAnswer,
} from './present-answer.ts';
import { previewRequest } from './preview-request.ts';
import { reach } from './reach.ts';
import type { WebAsk } from './reach.ts';
import { headersSchema, requestHeaders } from './request-headers.ts';
import { parseWebAddress } from './web-address.ts';
import type { WebParts } from './web-parts.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface HttpArguments {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly content_type?: string;
  readonly follow_redirects?: boolean;
  readonly max_characters: number;
  readonly max_bytes: number;
}

/** What all tools of the web have in common. */
export const webTool = {
  tags: ['web', 'untrusted'],
  category: 'network',
  scopes: ['network'],
  allowedModes: modesOutsideLockdown,
} as const;

export const urlSchema = schema.string('An http:// or https:// address, without a user name or password in it.', {
  minLength: 1,
  maxLength: 8192,
  examples: ['https://example.com/docs/start'],
});

const bodyProperties = {
  body: schema.string('The body of the request.', { maxLength: 8_388_608, default: '' }),
  content_type: schema.string('What the body is.', {
    maxLength: 200,
    pattern: '^[\\t -~]*$',
    default: 'application/json',
    examples: ['application/json', 'application/x-www-form-urlencoded'],
  }),
};

const followProperties = {
  follow_redirects: schema.boolean(
    'Whether redirects are followed. Each is judged by the rules like a call of its own.',
    { default: true },
  ),
};

const about = {
  GET: 'Make an HTTP GET request and return status, headers and body as they are. To read a web page, use web.fetch.',
  POST: 'Make an HTTP POST request, which can change something on the server. Redirects are returned, not followed.',
  PUT: 'Make an HTTP PUT request, which replaces something on the server. Redirects are returned, not followed.',
  DELETE: 'Make an HTTP DELETE request, which removes something on the server. Redirects are returned, not followed.',
} as const;

/** The four methods as tools of their own, so that rules and leases can tell reading from changing. */
export function httpTools(parts: WebParts): readonly AnyTool[] {
  return (['GET', 'POST', 'PUT', 'DELETE'] as const).map((method) => httpTool(method, parts));
}

function httpTool(method: keyof typeof about, parts: WebParts): AnyTool {
  const mutates = method !== 'GET';
  const name = method.toLowerCase();
  const hasBody = method === 'POST' || method === 'PUT';
  return defineTool({
    ...webTool,
    name: `http.${name}`,
    aliases: [`http_${name}`],
    description: about[method],
    inputSchema: schema.object(
      {
        url: urlSchema,
        headers: headersSchema,
        ...(hasBody ? bodyProperties : {}),
        ...(mutates ? {} : followProperties),
        ...limitProperties,
      },
      { optional: ['body', 'content_type', 'follow_redirects'] },
    ),
    outputSchema: outputSchema({
      headers: { type: 'object', additionalProperties: { type: 'string' }, description: 'Without cookies.' },
      body: schema.string('The body, where it is text.'),
    }),
    risk: mutates ? 'high' : 'medium',
    confirmation: mutates ? 'always' : 'never',
    mutates,
    timeoutMs: mutates ? 30_000 : 15_000,
    claim: (args) => ({ paths: [], hosts: [requestOf(method, args).address.authority] }),
    preview: (args, context) => previewRequest(requestOf(method, args), context),
    run: (args, context) => perform(requestOf(method, args), args, context, parts),
    summarize: (_, output) => summarizeAnswer(output),
  });
}

async function perform(ask: WebAsk, args: HttpArguments, context: ToolContext, parts: WebParts) {
  const reached = await reach(ask, context, parts.wayOut ?? {});
  const body = await receiveBody(reached, args.max_bytes, context, parts);
  return {
    ...presentAnswer(reached, body, parts),
    headers: presentHeaders(reached, parts),
    ...(body.text === undefined
      ? body.bytes.length > 0 && (await keepBytes(body.bytes, context))
      : await presentText('body', body.text, args.max_characters, context)),
  };
}

function requestOf(method: string, args: HttpArguments): WebAsk {
  const { url, headers, body = '', content_type: type, follow_redirects: follows = false } = args;
  return {
    method,
    address: parseWebAddress(url),
    headers: requestHeaders(headers, body === '' || type === undefined ? {} : { 'content-type': type }),
    ...(method === 'POST' || method === 'PUT' ? { body: Buffer.from(body) } : {}),
    followsRedirects: follows,
    mutates: method !== 'GET',
    argumentsFor: (address) => ({ ...args, url: address.url.href }),
  };
}
