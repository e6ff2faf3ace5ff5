import { isUtf8 } from 'node:buffer';
import { wholeText } from '@sallyport/contract';
import type {
  ArtifactPublish,
  FileWrite,
  InferenceCall,
  JsonObject,
  ShellExec,
  ToolRequest,
} from '@sallyport/contract';
import { untilDecided } from '../../call/submission.ts';
import type { Submission } from '../../call/submission.ts';
import { consentOf } from '../http/read-call.ts';
import type { Peer } from '../transport/peer.ts';

/** The call of a canonical tool that a typed request stands for. */
export interface RequestedCall {
  readonly toolName: string;
  readonly arguments: JsonObject;
  /** 0: the tool's own limit. */
  readonly timeoutMs: number;
}

/** Where the content of a write is stored if it is too large for arguments. Absent: it goes into them. */
export interface MapOptions {
  readonly contentHash?: string;
}

const maxReadMb = 1024;
const largestInlineBytes = 1024 * 1024;
/** What no tool takes for arguments. */
const noArguments = 'null';
const longestIdentifier = 256;

export function readCall(request: ToolRequest, peer: Peer, options: MapOptions = {}): Submission {
  const { toolName, arguments: args, timeoutMs } = mapRequest(request, options);
  const { sessionToken: credential, requestId, dedupeKey, approvalTaskId, confirmToken } = request;
  return {
    ...commonFacts(peer),
    ...{ credential, requestId, toolName, input: JSON.stringify(args), timeoutMs, dedupeKey },
    ...consentOf(approvalTaskId, confirmToken),
    waitMs: untilDecided,
  };
}

/** For a request that is refused in any case: it goes the same way, so that it is on record before it is answered. */
export function readWithoutArguments(request: ToolRequest, peer: Peer): Submission {
  return {
    ...commonFacts(peer),
    // No token is that long, so the part that is kept is not a valid token either.
    credential: request.sessionToken.slice(0, longestIdentifier),
    requestId: wholeText(request.requestId, longestIdentifier),
    toolName: familyOf(request),
    input: noArguments,
    timeoutMs: 0,
    dedupeKey: '',
  };
}

function commonFacts(peer: Peer) {
  const traceparent = peer.headers('traceparent');
  const tracestate = peer.headers('tracestate');
  return {
    door: peer.door,
    source: peer.source,
    taskId: '',
    correlationId: '',
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
    confirmBinding: '',
    signal: peer.signal,
  };
}

/**
 * Copies what a valid request says, field by field, so that nothing unknown to this version goes on: rules judge, and
 * tools receive, the JSON that is made of this.
 */
export function mapRequest({ tool }: ToolRequest, { contentHash }: MapOptions = {}): RequestedCall {
  switch (tool.case) {
    case 'fileRead': {
      const { path, offset, limit } = tool.value;
      const range = { offset: Number(offset), limit: Number(limit), max_size_mb: maxReadMb };
      // The caller gets the bytes of the file, whatever they are.
      return call('files.read', { path, ...range, encoding: 'base64', store_above_bytes: largestInlineBytes });
    }
    case 'fileWrite':
      return call('files.write', writeArguments(tool.value, contentHash));
    case 'fileEdit': {
      const { path, oldContent, newContent } = tool.value;
      return call('files.edit', { path, old_content: oldContent, new_content: newContent });
    }
    case 'shellExec':
      return call('shell.run', shellArguments(tool.value), Number(tool.value.timeoutMs));
    case 'gitOp': {
      const { operation, args, cwd } = tool.value;
      return call(`git.${operation.toLowerCase()}`, { args, ...(cwd === '' ? {} : { cwd }) });
    }
    case 'inference':
      return call('inference.call', inferenceArguments(tool.value));
    case 'artifactPublish':
      return call('artifacts.publish', artifactArguments(tool.value));
    case undefined:
      throw new TypeError('a request without a tool is not valid');
  }
}

/** The tool that a request is about, also when the rest of it is not valid. Empty: it names none. */
export function familyOf({ tool }: ToolRequest): string {
  return tool.case === undefined ? '' : families[tool.case];
}

/** About how many bytes the request holds in its tool. */
export function sizeOf({ tool }: ToolRequest): number {
  return tool.value === undefined ? 0 : Object.values(tool.value).reduce<number>(addLength, 0);
}

function addLength(sum: number, value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>(addLength, sum);
  return typeof value === 'string' || value instanceof Uint8Array ? sum + value.length : sum;
}

const families = {
  fileRead: 'files.read',
  fileWrite: 'files.write',
  fileEdit: 'files.edit',
  shellExec: 'shell.run',
  gitOp: 'git',
  inference: 'inference.call',
  artifactPublish: 'artifacts.publish',
} as const;

function call(toolName: string, args: JsonObject, timeoutMs = 0): RequestedCall {
  return { toolName, arguments: args, timeoutMs };
}

// JSON writes each of them with six characters, and a long run of those would not fit into one string.
const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f]/;

/** Text goes on as text, so that people who approve and rules that look can read it. */
function writeArguments({ path, content, createOnly, append }: FileWrite, contentHash?: string): JsonObject {
  if (contentHash !== undefined) return { path, content_hash: contentHash, create_only: createOnly, append };
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const text = isUtf8(bytes) ? bytes.toString() : undefined;
  const written =
    text === undefined || controlCharacter.test(text)
      ? { content: bytes.toString('base64'), encoding: 'base64' }
      : { content: text, encoding: 'utf-8' };
  return { path, ...written, create_only: createOnly, append };
}

function shellArguments({ command, cwd, timeoutMs, networkAccess, env }: ShellExec): JsonObject {
  // Of two variables with the same name the later one counts.
  const variables = Object.fromEntries(env.map((entry) => entry.split('=', 2) as [string, string]));
  return {
    command,
    ...(cwd === '' ? {} : { cwd }),
    ...(timeoutMs === 0n ? {} : { timeout_ms: Number(timeoutMs) }),
    network_access: networkAccess,
    env: variables,
  };
}

function inferenceArguments(request: InferenceCall): JsonObject {
  const { provider, model, promptHash, maxTokens, temperatureScaled, systemPromptHash } = request;
  return {
    provider,
    model,
    prompt_hash: hex(promptHash),
    max_tokens: Number(maxTokens),
    temperature_scaled: temperatureScaled,
    ...(systemPromptHash.length === 0 ? {} : { system_prompt_hash: hex(systemPromptHash) }),
  };
}

function artifactArguments({ artifactId, contentHash, category, metadata }: ArtifactPublish): JsonObject {
  return { artifact_id: artifactId, content_hash: hex(contentHash), category, metadata };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
