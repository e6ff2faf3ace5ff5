import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Json, JsonObject } from '@sallyport/contract';
import {
  canonicalJson,
  hasHiddenTextOrLines,
  isJsonObject,
  makeVisible,
  makeVisibleLine,
  textOf,
} from '@sallyport/contract';
import type { RuleReference } from '../../call/refusal.ts';
import type { Asking, Resources, ToolDefinition } from '../../call/tool.ts';
import type { Verdict } from '../../call/verdict.ts';
import type { UpstreamConfig } from '../upstream-config.ts';
import { RequestRefused, requestMethods, requestTools } from './request-kinds.ts';
import type { ServerRequest } from './request-kinds.ts';

/** How a request was decided, for the log. */
export interface DecidedRequest {
  readonly upstream: string;
  readonly method: string;
  readonly decision: 'allowed' | 'refused';
  readonly reason: string;
  /** Absent: no rule was asked. */
  readonly rule?: RuleReference;
  /** Absent: it came outside of any call. */
  readonly callId?: string;
}

export interface RequestParts {
  readonly upstream: UpstreamConfig;
  /** Absent: the request belongs to no call. */
  readonly callId?: string;
  readonly asking?: Asking;
  readonly signal: AbortSignal;
  readonly record: (request: DecidedRequest) => void;
}

const mostBytes = { elicitation: 64 * 1024, sampling: 1024 * 1024, roots: 1024 };

/**
 * Passes a question of a server to the client that made the call, if a rule allows it. The rule is about the caller,
 * because the caller's person or model answers. Throws RequestRefused. Every request is recorded.
 */
export async function answerRequest(request: ServerRequest, parts: RequestParts): Promise<JsonObject> {
  const { upstream, asking, signal } = parts;
  const { kind, params } = request;
  if (canonicalJson(params).length > mostBytes[kind]) throw refuseRequest(request, parts, 'it is too large');
  const problem = explainParams(request);
  if (problem !== undefined) throw refuseRequest(request, parts, problem);
  if (asking === undefined) throw refuseRequest(request, parts, 'the gate cannot tell which call it belongs to');
  const verdict = judge(asking.judge, request, upstream.name);
  checkVerdict(verdict, request, parts);
  const question = { method: requestMethods[kind], params: nameAsker(request, upstream.name) } as Parameters<
    NonNullable<Asking['askCaller']>
  >[0];
  const answer = await asking.askCaller?.(question, signal);
  if (answer === undefined)
    throw refuseRequest(request, parts, 'the client that made the call cannot answer it', verdict);
  recordRequest(request, parts, 'allowed', verdict);
  return answer;
}

/** Which folders the file of a server shows it. A rule decides whether it may know; no caller is involved. */
export function answerRoots(
  request: ServerRequest,
  parts: RequestParts & { readonly judge: (tool: ToolDefinition, args: JsonObject, resources: Resources) => Verdict },
): JsonObject {
  const { endpoint } = parts.upstream;
  const verdict = judge(parts.judge, request, parts.upstream.name);
  checkVerdict(verdict, request, parts);
  recordRequest(request, parts, 'allowed', verdict);
  const paths = endpoint.kind === 'stdio' ? [...new Set([...endpoint.read, ...endpoint.write])] : [];
  return {
    roots: paths.filter(isFolder).map((path) => ({ uri: pathToFileURL(path).href, name: basename(path) })),
  };
}

/** Records the refusal, and returns the error to throw. */
export function refuseRequest(
  request: ServerRequest,
  parts: Pick<RequestParts, 'upstream' | 'callId' | 'record'>,
  reason: string,
  verdict?: Verdict,
): RequestRefused {
  recordRequest(request, parts, 'refused', verdict, reason);
  return new RequestRefused(request.kind, `The gate refuses ${requestMethods[request.kind]}: ${reason}.`);
}

function checkVerdict(verdict: Verdict, request: ServerRequest, parts: RequestParts): void {
  if (verdict.effect === 'allow') return;
  const why = verdict.effect === 'deny' ? verdict.reason : 'a rule requires approval, and such a request cannot wait';
  throw refuseRequest(request, parts, `${why.replace(/\.$/, '')} (rule ${verdict.rule.id})`, verdict);
}

function judge(ask: Asking['judge'], { kind, params }: ServerRequest, upstream: string): Verdict {
  const { message, maxTokens } = params;
  const url = textOf(params['url']);
  const isUrl = kind === 'elicitation' && params['mode'] === 'url';
  const args: JsonObject = {
    upstream,
    ...(kind === 'elicitation' ? { mode: isUrl ? 'url' : 'form' } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    ...(isUrl ? { url } : {}),
    ...(typeof maxTokens === 'number' ? { max_tokens: maxTokens } : {}),
  };
  const hosts = isUrl ? [new URL(url).hostname] : undefined;
  return ask(requestTools[kind], args, { paths: [], ...(hosts === undefined ? {} : { hosts }) });
}

/** Why a client cannot be asked this. Undefined: it can. */
function explainParams({ kind, params }: ServerRequest): string | undefined {
  if (kind === 'sampling') {
    return params['tools'] === undefined ? undefined : 'a model with tools would act outside of the gate';
  }
  if (kind !== 'elicitation') return undefined;
  if (params['mode'] !== 'url') {
    const isSeen = (text: string): boolean => !hasHiddenTextOrLines(text);
    return textsOf(showLabels(params['requestedSchema'] ?? {})).every(isSeen)
      ? undefined
      : 'a name or a value in its form has hidden characters';
  }
  const page = URL.parse(textOf(params['url']));
  return page?.protocol === 'https:' && page.username === '' ? undefined : 'the page does not use https';
}

/** The person and the model are told who asks: to them, everything comes from the gate. */
function nameAsker({ kind, params }: ServerRequest, upstream: string): JsonObject {
  if (kind === 'elicitation') {
    const { mode, requestedSchema, url, elicitationId } = params;
    const page = typeof url === 'string' ? URL.parse(url)?.href : undefined;
    return {
      message: `The server "${upstream}" behind Sallyport asks:${quote(textOf(params['message']))}`,
      ...(mode === undefined ? {} : { mode }),
      ...(requestedSchema === undefined ? {} : { requestedSchema: showLabels(requestedSchema) }),
      ...(page === undefined ? {} : { url: page }),
      ...(elicitationId === undefined ? {} : { elicitationId }),
    };
  }
  // A server must not see the context of other servers.
  const { includeContext: _, systemPrompt, ...rest } = params;
  const prompt = typeof systemPrompt === 'string' ? `\n\n${systemPrompt}` : '';
  return { ...rest, systemPrompt: `This is a request of the server "${upstream}" behind Sallyport.${prompt}` };
}

/** Several lines are each marked as the server's, so that none of them passes for one of ours. */
function quote(message: string): string {
  const lines = makeVisible(message).split('\n');
  return lines.length === 1 ? ` ${lines[0]}` : lines.map((line) => `\n> ${line}`).join('');
}

const labels = ['title', 'description'];

/** A form with what it says about its fields made visible. Their names and values are the server's own, and stay. */
function showLabels(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(showLabels);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      labels.includes(name) && typeof value === 'string' ? makeVisibleLine(value) : showLabels(value),
    ]),
  );
}

/** Every name and every text in it. */
function textsOf(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isJsonObject(value) ? Object.entries(value).flatMap(([name, each]) => [name, ...textsOf(each)]) : [];
}

function recordRequest(
  { kind }: ServerRequest,
  { upstream, callId, record }: Pick<RequestParts, 'upstream' | 'callId' | 'record'>,
  decision: DecidedRequest['decision'],
  verdict?: Verdict,
  reason = verdict?.reason ?? '',
): void {
  record({
    upstream: upstream.name,
    method: requestMethods[kind],
    decision,
    reason,
    ...(verdict === undefined ? {} : { rule: verdict.rule }),
    ...(callId === undefined ? {} : { callId }),
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
