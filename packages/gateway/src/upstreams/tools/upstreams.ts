import { spellCount } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, Effect, Tool } from '../../call/tool.ts';
import type { AcceptedDefinitions } from '../../programs/accepted-definitions.ts';
import type { InstalledTool } from '../../programs/installed-tool.ts';
import type { InstalledTools } from '../../programs/installed-tools.ts';
import type { Upstreams } from '../upstreams.ts';
import { defineAdministration } from '../../registry/administration.ts';
import { describeDifference } from '../../programs/tools/describe-installed.ts';
import { addUpstream } from './add-upstream.ts';
import { describeUpstream, explainUpstream, hashPending, isPending, toolsOf } from './describe-upstream.ts';
import { findUpstream } from './find-upstream.ts';
import { loginTool, logoutTool } from './login-upstream.ts';
import { namedRequests } from './request-tools.ts';
import type { UpstreamFiles } from './upstream-files.ts';
import { described, onlyName } from './upstream-schemas.ts';

export interface UpstreamAdministration {
  readonly upstreams: Upstreams;
  readonly installed: InstalledTools;
  readonly accepted: Pick<AcceptedDefinitions, 'read'>;
  readonly files: UpstreamFiles;
  /** Brings the servers in line with the files, and the registry in line with the servers. */
  readonly reload: () => Promise<void>;
}

interface Named {
  readonly name: string;
}

/** Letting upstream servers in, looking at them and throwing them out. Governed calls, for operators only. */
export function upstreamTools(parts: UpstreamAdministration): readonly AnyTool[] {
  const tools = [
    listTool(parts),
    showTool(parts),
    testTool(parts),
    addUpstream(parts),
    removeTool(parts),
    acceptTool(parts),
    loginTool(parts),
    logoutTool(parts),
  ];
  return [...(tools as unknown as AnyTool[]), ...namedRequests()];
}

const nothing = (summary: string) => async (): Promise<Effect> => ({ summary, detail: '', undoable: true });

function listTool({ upstreams, installed }: UpstreamAdministration): Tool<object> {
  return {
    definition: defineAdministration({
      name: 'upstreams.list',
      description: 'Lists the upstream servers and how they are, and mistakes in their files.',
      mutates: false,
      idempotent: true,
      inputSchema: { type: 'object', additionalProperties: false },
      outputSchema: {
        type: 'object',
        required: ['upstreams', 'mistakes'],
        properties: {
          upstreams: { type: 'array', items: described },
          mistakes: { type: 'array', items: { type: 'object', required: ['file', 'reason'] } },
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: nothing('List the upstream servers.'),
    run: async () => ({
      upstreams: upstreams.all.map((upstream) => describeUpstream(upstream, installed)),
      mistakes: upstreams.mistakes.map((mistake) => ({ ...mistake })),
    }),
    summarize: (_args, output) => `${(output as { upstreams: readonly unknown[] }).upstreams.length} upstreams`,
  };
}

function showTool(parts: UpstreamAdministration): Tool<Named> {
  return {
    definition: defineAdministration({
      name: 'upstreams.show',
      description: 'Shows one upstream server, its tools, and what is different in them since they were accepted.',
      mutates: false,
      idempotent: true,
      inputSchema: onlyName,
      outputSchema: described,
    }),
    claim: () => ({ paths: [] }),
    preview: nothing('Show an upstream server.'),
    run: async ({ name }, { redact }) => explainUpstream(findUpstream(parts.upstreams, name), parts, redact),
    summarize: ({ name }) => `showed ${name}`,
  };
}

function testTool(parts: UpstreamAdministration): Tool<Named> {
  return {
    definition: {
      ...defineAdministration({
        name: 'upstreams.test',
        description:
          'Reaches an upstream server at once and has it list its tools. Fails with the reason if it cannot.',
        mutates: false,
        idempotent: true,
        inputSchema: onlyName,
        outputSchema: described,
      }),
      timeoutMs: 45_000,
    },
    claim: () => ({ paths: [] }),
    preview: nothing('Reach an upstream server.'),
    run: async ({ name }, { redact }) => {
      const upstream = findUpstream(parts.upstreams, name);
      await upstream.reconnect().catch((error: unknown) => {
        // This is asked by operators, who are told what callers are not.
        const isFailed = error instanceof ToolFailure && error.code === 'UPSTREAM_FAILED';
        throw isFailed ? new ToolFailure('UPSTREAM_FAILED', upstream.trouble) : error;
      });
      await parts.installed.refresh();
      return explainUpstream(upstream, parts, redact);
    },
    summarize: ({ name }) => `reached ${name}`,
  };
}

function removeTool({ upstreams, installed, files, reload }: UpstreamAdministration): Tool<Named> {
  return {
    definition: defineAdministration({
      name: 'upstreams.remove',
      description:
        'Ends an upstream server, deletes its file, and forgets its login and which of its tools were accepted.',
      mutates: true,
      idempotent: true,
      inputSchema: onlyName,
      outputSchema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    }),
    claim: () => ({ paths: [] }),
    preview: async ({ name }) => {
      const { config } = findUpstream(upstreams, name);
      return { summary: `Remove the upstream ${name}.`, detail: `deletes ${config.file}\n`, undoable: false };
    },
    run: async ({ name }, { session }) => {
      const upstream = findUpstream(upstreams, name);
      await upstream.logOut();
      await files.remove(upstream.config);
      for (const tool of toolsOf(name, installed)) await installed.forget(tool, session.agent);
      await reload();
      return { name };
    },
    summarize: (_args, output) => `removed ${(output as unknown as Named).name}`,
  };
}

function acceptTool({ upstreams, installed, accepted }: UpstreamAdministration): Tool<Named & { sha256?: string }> {
  const pendingOf = ({ name, sha256 }: Named & { readonly sha256?: string }): readonly InstalledTool[] => {
    const isTool = name.includes('.');
    const upstream = findUpstream(upstreams, name.split('.', 1)[0] ?? '');
    const tools = toolsOf(upstream.config.name, installed);
    if (sha256 !== undefined && !hashPending(tools).startsWith(sha256)) {
      throw new ToolFailure('FILE_CHANGED', `${upstream.config.name} offers something else now. Look at it again.`);
    }
    const pending = tools.filter((tool) => isPending(tool) && (!isTool || tool.definition.name === name));
    if (isTool && !tools.some(({ definition }) => definition.name === name)) {
      throw new ToolFailure('NOT_FOUND', `${upstream.config.name} has no tool ${name}.`);
    }
    return pending;
  };
  return {
    definition: defineAdministration({
      name: 'upstreams.accept',
      description: 'Accepts tools of an upstream server as they are now: exactly these descriptions and schemas.',
      mutates: true,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 64, description: 'An upstream, or one of its tools.' },
          sha256: {
            type: 'string',
            pattern: '^[0-9a-f]{12,64}$',
            description: 'Beginning of the hash of what was looked at. Absent: whatever is there now.',
          },
        },
      },
      outputSchema: {
        type: 'object',
        required: ['accepted'],
        properties: { accepted: { type: 'array', items: { type: 'string' } } },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: async (args) => {
      const pending = pendingOf(args);
      const detail = pending
        .map((tool) => `${tool.status}: ${tool.id}\n${describeDifference(tool, accepted)}`)
        .join('');
      return { summary: `Accept ${spellCount(pending.length, 'tool')} of ${args.name}.`, detail, undoable: true };
    },
    run: async (args, { session }) => {
      const pending = pendingOf(args);
      for (const tool of pending) await installed.accept(tool, session.agent);
      return { accepted: pending.map(({ definition }) => definition.name) };
    },
    summarize: (_args, output) => `accepted ${(output as { accepted: readonly unknown[] }).accepted.length} tools`,
  };
}
