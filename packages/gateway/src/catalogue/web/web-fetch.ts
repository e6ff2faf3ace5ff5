import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { defineTool } from '../define-tool.ts';
import { isHtml } from './decode-text.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import { urlSchema, webTool } from './http-tools.ts';
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
import * as schema from '../../registry/schemas/schema.ts';

/** A page above this is more than anybody reads; its beginning becomes Markdown. */
const longestPage = 2 * 1024 * 1024;
const longestMarkdown = 2 * 1024 * 1024;
const wanted = 'text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5';

const inputSchema = schema.object({
  url: urlSchema,
  format: {
    enum: ['markdown', 'raw'],
    default: 'markdown',
    description: 'markdown turns HTML into text to read; raw returns the source of the page.',
  },
  ...limitProperties,
});
type FetchArguments = schema.ValueOf<typeof inputSchema>;

export function webFetch(parts: WebParts): AnyTool {
  return defineTool({
    ...webTool,
    name: 'web.fetch',
    aliases: ['fetch_url'],
    description:
      'Read a web page or another document at an address. HTML becomes Markdown; other text is returned as it is; anything else is kept in the content store. What comes back was written by strangers.',
    inputSchema,
    outputSchema: outputSchema({
      title: schema.string('The title of an HTML page.'),
      text: schema.string('The text. Absent: the document is not text; content_hash names it.'),
    }),
    risk: 'medium',
    timeoutMs: 20_000,
    claim: (args) => ({ paths: [], hosts: [requestOf(args).address.authority] }),
    preview: (args, context) => previewRequest(requestOf(args), context),
    run: (args, context) => fetchPage(args, context, parts),
    summarize: (_, output) => summarizeAnswer(output),
  });
}

async function fetchPage(args: FetchArguments, context: ToolContext, parts: WebParts): Promise<WebOutput> {
  const reached = await reach(requestOf(args), context, parts.wayOut ?? {});
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

function requestOf(args: FetchArguments): WebAsk {
  return {
    method: 'GET',
    address: parseWebAddress(args.url),
    headers: requestHeaders({}, { accept: wanted }),
    followsRedirects: true,
    mutates: false,
    argumentsFor: (address) => ({ ...args, url: address.url.href }),
  };
}
