import type { IncomingMessage } from 'node:http';
import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { cutText } from '../../call/redacted.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { explainFailure } from '../web/reach.ts';
import { acceptedEncodings, readBody } from '../web/read-body.ts';
import { sendRequest } from '../web/send-request.ts';
import { parseWebAddress } from '../web/web-address.ts';
import type { WebParts } from '../web/web-parts.ts';
import type { ProviderBook } from './provider-book.ts';
import type { Provider } from './provider-settings.ts';

/** What tools that use a provider are made with. */
export interface ProviderParts extends WebParts {
  readonly providers: Pick<ProviderBook, 'current' | 'problem'>;
  /** The key of a provider, for requests to its own host. Throws ToolFailure for one that is not stored. */
  readonly readKey: (secret: string, use: { readonly tool: string; readonly host: string }) => string;
}

export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  /** Below the address of the provider, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: none. */
  readonly body?: JsonObject;
}

/** For who has to know how far a request came. Absent: nobody has to. */
export interface RequestWatch {
  /** Called before the first byte leaves. */
  readonly onConnected: () => void;
  /** Called when the status of the answer is known. */
  readonly onAnswered: () => void;
}

const maxErrorBytes = 64 * 1024;
const longestReason = 300;

/**
 * Sends a request to a provider, at the address that the operator wrote down and nowhere else; no redirect is followed.
 * Resolves with an answer of status 200, whose body is still to be read. Throws ToolFailure for any other.
 */
export async function askProvider(
  provider: Provider,
  request: ProviderRequest,
  context: ToolContext,
  { wayOut = {} }: ProviderParts,
  watch?: RequestWatch,
): Promise<IncomingMessage> {
  const { address } = provider;
  const base = address.url.href.replace(/[/?#]+$/, '');
  const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  const sent = {
    method: request.method,
    address: parseWebAddress(`${base}${request.path}`),
    headers: {
      'user-agent': 'Sallyport',
      accept: 'application/json',
      'accept-encoding': acceptedEncodings,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    body,
  };
  const { signal, noteNetwork, traceparent } = context;
  const granted = address.isAddress ? [address.authority] : [];
  try {
    const answer = await sendRequest(sent, { ...wayOut, granted, signal, noteNetwork, traceparent, ...watch });
    watch?.onAnswered();
    context.countUsage({ networkConnections: 1 });
    if (answer.statusCode === 200) return answer;
    throw await explainStatus(provider, answer, context);
  } catch (error) {
    throw explainFailure(error, address, context);
  }
}

/** All of an answer, which has to be one JSON object. */
export async function readJson(
  provider: Provider,
  answer: IncomingMessage,
  context: ToolContext,
  maxBytes: number,
): Promise<JsonObject> {
  try {
    const bytes = await readBody(answer, { maxBytes, where: provider.address.authority });
    context.countUsage({ bytesRead: bytes.length });
    const value = JSON.parse(bytes.toString()) as Json;
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw explainFailure(error, provider.address, context);
  }
  throw unreadable(provider);
}

export function unreadable({ name }: Provider): ToolFailure {
  return new ToolFailure('EXECUTION_ERROR', `The provider ${name} answered in a form that the gate does not read.`);
}

async function explainStatus(provider: Provider, answer: IncomingMessage, context: ToolContext): Promise<ToolFailure> {
  const { name, secret } = provider;
  const status = answer.statusCode ?? 0;
  const said = await readReason(provider, answer, context);
  if (status === 401 || status === 403) {
    return new ToolFailure('UPSTREAM_FAILED', `The provider ${name} refuses the gate (status ${status}).${said}`, {
      forOperators:
        secret === undefined
          ? 'providers.yaml names no secret for it, or it does not allow this use.'
          : `Set its key with \`sallyport secret set ${secret}\`, and see what the key may be used for.`,
    });
  }
  if (status === 429 || status >= 500)
    return new ToolFailure('UPSTREAM_UNAVAILABLE', `The provider ${name} cannot answer now (status ${status}).${said}`);
  return new ToolFailure('EXECUTION_ERROR', `The provider ${name} refuses the request (status ${status}).${said}`);
}

/** What the provider says is wrong, as most of them put it, quoted. */
async function readReason(provider: Provider, answer: IncomingMessage, context: ToolContext): Promise<string> {
  try {
    const { error, message, detail } = await readJson(provider, answer, context, maxErrorBytes);
    const reason = [isJsonObject(error) ? error['message'] : error, message, detail].find(
      (each) => typeof each === 'string',
    );
    if (typeof reason !== 'string' || reason === '') return '';
    return ` It says: ${JSON.stringify(cutText(context.redact(reason), longestReason))}.`;
  } catch {
    return '';
  }
}
