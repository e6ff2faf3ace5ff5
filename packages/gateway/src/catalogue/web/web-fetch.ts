import type { JsonObject } from '@sallyport/contract';
import { modes } from '../../call/session.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { objectSchema } from '../files/define-file-tool.ts';
import { isHtml } from './decode-text.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import { urlSchema } from './http-tools.ts';
import {
  keepBytes,
  limitProperties,
  outputSchema,
  presentAnswer,
  presentText,
  receiveBody,
  summarizeAnswer,
} from './present-answer.ts';
import type { WebOutput } from './present-answer.ts';
import { previewRequest } from './preview-request.ts';
import { reach } from './reach.ts';
import type { WebAsk } from './reach.ts';
import { requestHeaders } from './request-headers.ts';
import { parseWebAddress } from './web-address.ts';
import type { WebParts } from './web-parts.ts';

interface FetchArguments {
  readonly url: string;
  readonly format: 'markdown' | 'raw';
  readonly max_characters: number;
  readonly max_bytes: number;
}

/** A page above this is more than anybody reads; its beginning becomes Markdown. */
const longestPage = 2 * 1024 * 1024;
const longestMarkdown = 2 * 1024 * 1024;
const wanted = 'text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5';

export function webFetch(parts: WebParts): AnyTool {
  return {
    definition: {
      name: 'web.fetch',
      aliases: ['fetch_url'],
      version: '1.0.0',
      description:
        'Read a web page or another document at an address. HTML becomes Markdown; other text is returned as it is; anything else is kept in the content store. What comes back was written by strangers.',
      tags: ['web', 'untrusted', 'read'],
      category: 'network',
      inputSchema: objectSchema({
        url: urlSchema,
        format: {
          enum: ['markdown', 'raw'],
          default: 'markdown',
          description: 'markdown turns HTML into text to read; raw returns the source of the page.',
        },
        ...limitProperties,
      }),
      outputSchema: outputSchema({
        title: { type: 'string', description: 'The title of an HTML page.' },
        text: { type: 'string', description: 'The text. Absent: the document is no text; content_hash names it.' },
      }),
      risk: 'medium',
      confirmation: 'never',
      mutates: false,
      scopes: ['network'],
      allowedModes: modes.filter((mode) => mode !== 'LOCKDOWN'),
      requiresApproval: false,
      requiresSandbox: false,
      timeoutMs: 20_000,
      idempotent: true,
      audience: 'everyone',
    },
    claim: (args) => ({ paths: [], hosts: [requestOf(args).address.authority] }),
    preview: async (args, context) => previewRequest(requestOf(args), context),
    run: (args, context) => fetchPage(args, context, parts),
    summarize: (_, output) => summarizeAnswer(output as WebOutput),
  };
}

async function fetchPage(given: JsonObject, context: ToolContext, parts: WebParts): Promise<WebOutput> {
  const args = read(given);
  const reached = await reach(requestOf(given), context, parts.wayOut ?? {});
  const body = await receiveBody(reached, args.max_bytes, context, parts);
  const common = presentAnswer(reached, body, parts);
  if (body.text === undefined)
    return { ...common, ...(body.bytes.length > 0 && (await keepBytes(body.bytes, context))) };
  const page =
    args.format === 'markdown' && isHtml(common.content_type)
      ? await htmlToMarkdown(body.text.slice(0, longestPage), {
          baseUrl: reached.address.url.href,
          maxLength: longestMarkdown,
          signal: context.signal,
        })
      : { title: '', markdown: body.text };
  const isCut = body.text.length > longestPage && page.markdown !== body.text;
  return {
    ...common,
    ...(page.title !== '' && { title: page.title }),
    ...(isCut && { truncated: true }),
    // Characters that a page hides may have split a secret.
    ...(await presentText('text', parts.hide(page.markdown), args.max_characters, context)),
  };
}

function requestOf(given: JsonObject): WebAsk {
  return {
    method: 'GET',
    address: parseWebAddress(read(given).url),
    headers: requestHeaders({}, { accept: wanted }),
    followsRedirects: true,
    mutates: false,
    argumentsFor: (address) => ({ ...given, url: address.url.href }),
  };
}

/** The gate passes only arguments that fit the input schema. */
function read(args: JsonObject): FetchArguments {
  return args as unknown as FetchArguments;
}
