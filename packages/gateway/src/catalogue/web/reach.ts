import { cutText } from '../../call/redacted.ts';
import type { IncomingMessage } from 'node:http';
import { HostRefused } from '@sallyport/sandbox';
import type { JsonObject } from '@sallyport/contract';
import { isRefusal } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { HostLeave, ToolContext } from '../../call/tool.ts';
import { sendRequest } from './send-request.ts';
import type { WayOut } from './send-request.ts';
import { refuseAddress, resolveLocation } from './web-address.ts';
import type { WebAddress } from './web-address.ts';

export const mostRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** What a caller's headers may still say to a host that the caller did not name. */
const harmlessHeaders: ReadonlySet<string> = new Set(['accept', 'accept-language', 'user-agent']);

export interface WebAsk {
  readonly method: string;
  readonly address: WebAddress;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly followsRedirects: boolean;
  /** The request can change something on the server. */
  readonly mutates: boolean;
  /** The arguments of the call as they would be for another address. */
  readonly argumentsFor: (address: WebAddress) => JsonObject;
}

export interface Reached {
  readonly answer: IncomingMessage;
  /** Where the answer came from in the end. */
  readonly address: WebAddress;
}

/**
 * Sends a request and follows where answers lead. Each address is judged by the rules and the lease, then resolved and
 * checked, as if the caller had named it. Secrets that rules bind to a host go to that host and no further.
 */
export async function reach(ask: WebAsk, context: ToolContext, wayOut: WayOut): Promise<Reached> {
  let { address, headers } = ask;
  for (let followed = 0; ; followed++) {
    const leave = askForLeave(address, ask, context);
    const answer = await send({ ...ask, address, headers: { ...headers, ...secretHeaders(leave, address) } }, leave);
    const { location } = answer.headers;
    if (!ask.followsRedirects || location === undefined || !redirects.has(answer.statusCode ?? 0)) {
      return { answer, address };
    }
    answer.destroy();
    if (followed === mostRedirects) {
      const message = `${ask.address.authority} led to other addresses more than ${mostRedirects} times.`;
      throw new ToolFailure('EXECUTION_ERROR', message);
    }
    const next = noted(() => resolveLocation(location, address), location, context);
    if (next.url.origin !== address.url.origin) headers = withoutOwn(headers);
    address = next;
  }

  async function send(request: WebAsk, leave: HostLeave): Promise<IncomingMessage> {
    const { signal, noteNetwork, traceparent } = context;
    const onConnected = ask.mutates ? context.noteEffect : () => undefined;
    try {
      return await sendRequest(request, {
        ...wayOut,
        granted: leave.hosts,
        signal,
        noteNetwork,
        traceparent,
        onConnected,
      });
    } catch (error) {
      throw explainFailure(error, request.address, context);
    }
  }
}

function askForLeave(address: WebAddress, ask: WebAsk, context: ToolContext): HostLeave {
  const judged = context.hosts.judge(address.authority, ask.argumentsFor(address));
  if (!isRefusal(judged)) return judged;
  context.noteNetwork([{ outcome: 'refused', target: address.authority, times: 1 }]);
  throw new ToolRefused(judged);
}

/** A destination that is refused before it is asked for is on record too. */
function noted(read: () => WebAddress, location: string, context: ToolContext): WebAddress {
  try {
    return read();
  } catch (error) {
    context.noteNetwork([{ outcome: 'refused', target: cutText(context.redact(location), 300), times: 1 }]);
    throw error;
  }
}

/** Secrets cross no network in the clear. A machine that the rules name by its address may be reached without TLS. */
function secretHeaders(leave: HostLeave, { isSecure, isAddress }: WebAddress): Readonly<Record<string, string>> {
  return isSecure || isAddress ? leave.readHeaders() : {};
}

function withoutOwn(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => harmlessHeaders.has(name)));
}

/** What went wrong, in words that hold nothing of what the other side said. */
export function explainFailure(error: unknown, address: WebAddress, { signal }: ToolContext): unknown {
  const { authority } = address;
  if (error instanceof ToolFailure || error instanceof ToolRefused) return error;
  if (signal.aborted) return signal.reason;
  if (error instanceof HostRefused) return refuseHost(error, address);
  if (!(error instanceof Error)) return error;
  if (error.name === 'TimeoutError') return new ToolFailure('TIMEOUT', `${authority} did not answer in time.`);
  const { code = 'the connection broke off' } = error as NodeJS.ErrnoException;
  if (/^Z_|^ERR__ERROR|BROTLI/.test(code))
    return new ToolFailure('EXECUTION_ERROR', `The answer of ${authority} cannot be unpacked.`);
  if (/CERT|SELF_SIGNED|^ERR_TLS|^ERR_SSL|UNABLE_TO_/.test(code))
    return new ToolFailure('EXECUTION_ERROR', `The certificate of ${authority} is not accepted: ${code}.`);
  if (code.startsWith('HPE_'))
    return new ToolFailure(
      'EXECUTION_ERROR',
      `The answer of ${authority} is not HTTP that the gate can read: ${code}.`,
    );
  return new ToolFailure('UPSTREAM_UNAVAILABLE', `${authority} could not be reached: ${code}.`);
}

/** The no of the egress gate, with what an operator could write. */
export function refuseHost(
  { target, message, remedy }: HostRefused,
  { authority, isAddress }: WebAddress,
): ToolRefused {
  const grant = `If a machine of your own network is meant, the rule has to name it: grants: { hosts: ['${authority}'] }`;
  return refuseAddress(target, message, remedy ?? (isAddress ? grant : undefined));
}
