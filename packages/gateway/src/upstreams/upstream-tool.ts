import type { Json, JsonObject } from '@sallyport/contract';
import { canonicalJson, isJsonObject, makeVisibleLine, spellCount } from '@sallyport/contract';
import type { NetworkEvent } from '@sallyport/sandbox';
import type { RedactText } from '../call/redacted.ts';
import { refuse } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import type { AnyTool, Effect, Resources, ToolContext, ToolDefinition } from '../call/tool.ts';
import { explainForeignPaths } from '../policy/judge/foreign-paths.ts';
import { resolveLinks } from '../policy/patterns/canonical-path.ts';
import { describeWithheld } from '../programs/run/attend-to.ts';
import type { ConnectionCall, UpstreamConnection } from './upstream-connection.ts';
import type { Upstream } from './upstream.ts';

/** What a call of the tool asks of the server. */
export interface UpstreamRequest {
  readonly send: (connection: UpstreamConnection, args: JsonObject, how: ConnectionCall) => Promise<object>;
  /** What it answered, as the output of the tool. Throws ToolFailure. */
  readonly read: (result: object, redact: RedactText) => Json;
}

export interface UpstreamToolParts {
  readonly upstream: Upstream;
  readonly definition: ToolDefinition;
  readonly request: UpstreamRequest;
  /** Whether the server offers exactly this tool now. */
  readonly isCurrent: () => boolean;
}

/** The fields of MCP results that are lists of parts. */
const lists = ['content', 'contents', 'messages', 'resources', 'resourceTemplates'];
/** The gate enforces the time limit itself; the request to the server ends a little later. */
const graceMs = 2000;

/** A tool of an upstream server. Every call is one request over the connection of the server. */
export function upstreamTool(parts: UpstreamToolParts): AnyTool {
  const { upstream, definition, request } = parts;
  return {
    definition,
    claim: () => claimHosts(upstream),
    preview: async (args) => previewCall(upstream, definition, args),
    run: async (args, context) => {
      refuseForeign(upstream, context);
      const { cancellation: signal, reportProgress, noteEffect, callId, asking, traceparent } = context;
      const result = await upstream.request((connection, how) => request.send(connection, args, how), {
        signal,
        timeoutMs: definition.timeoutMs + graceMs,
        onProgress: ({ progress, total, message = '' }) =>
          reportProgress({ kind: 'step', done: progress, ...(total === undefined ? {} : { total }), message }),
        confirm: () => {
          confirmUnchanged(parts);
          noteEffect();
        },
        onNetwork: (events) => noteNetwork(events, context),
        onWithheld: (withheld) => {
          for (const warning of describeWithheld(withheld, context.redact)) context.warn(warning);
        },
        onUsage: (usage) => context.countUsage(usage),
        callId,
        ...(traceparent === undefined ? {} : { traceparent }),
        ...(asking === undefined ? {} : { asking }),
      });
      const { endpoint } = upstream.config;
      if (endpoint.kind === 'http')
        noteNetwork([{ outcome: 'connected', target: hostOf(endpoint.url), times: 1 }], context);
      return request.read(result, context.redact);
    },
    summarize: (_args, output) => {
      const listed = isJsonObject(output) ? lists.map((key) => output[key]).find(Array.isArray) : undefined;
      return listed === undefined ? 'structured content' : spellCount(listed.length, 'part');
    },
  };
}

/** One server serves all sessions, so it serves only those that may see what it sees. */
function refuseForeign({ config: { name, endpoint } }: Upstream, { workspace }: ToolContext): void {
  const explainForeign = explainForeignPaths(workspace);
  if (endpoint.kind !== 'stdio' || explainForeign === undefined) return;
  for (const path of [...endpoint.read, ...endpoint.write]) {
    // A folder around a project shows the project too.
    const why = explainForeign(path, 'write') ?? explainForeign(resolveLinks(path), 'write');
    if (why === undefined) continue;
    throw new ToolRefused(
      refuse('PROTECTED_PATH', 'other-project', `The server ${name} sees a folder that ${why}.`, {
        remedy: 'Ask the operator for a server of this project.',
        forOperators: `It sees ${path}, because its file says so. Write a file for each project.`,
      }),
    );
  }
}

function noteNetwork(events: readonly NetworkEvent[], { noteNetwork: note, countUsage }: ToolContext): void {
  note(events);
  const connected = events.filter(({ outcome }) => outcome === 'connected');
  if (connected.length > 0) countUsage({ networkConnections: connected.reduce((sum, { times }) => sum + times, 0) });
}

function hostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/** A server that was started for this call may offer another tool under the name that was judged. */
function confirmUnchanged({ definition: { name }, isCurrent }: UpstreamToolParts): void {
  if (isCurrent()) return;
  throw new ToolRefused(
    refuse('TOOL_NOT_ACCEPTED', 'registry', `${name} cannot be called: it has changed since it was accepted.`, {
      forOperators: `Look at it and accept it with \`sallyport upstream accept ${name}\`.`,
    }),
  );
}

function claimHosts({ config: { endpoint } }: Upstream): Resources {
  if (endpoint.kind === 'http') return { paths: [], hosts: [new URL(endpoint.url).hostname] };
  const hosts = endpoint.hosts.filter((host) => !host.includes('*'));
  return { paths: [], ...(hosts.length === 0 ? {} : { hosts }) };
}

function previewCall({ config }: Upstream, { name }: ToolDefinition, args: JsonObject): Effect {
  const { endpoint } = config;
  const where =
    endpoint.kind === 'http' ? `sent to: ${endpoint.url}` : `given to the program: ${endpoint.command.join(' ')}`;
  const lines = [
    `arguments: ${canonicalJson(args)}`,
    where,
    'What the server will do with that is not known beforehand.',
  ];
  const detail = lines.map((line) => `${makeVisibleLine(line)}\n`).join('');
  return { summary: `Call ${name} of the upstream server ${config.name}.`, detail, undoable: false };
}
