import {
  AcceptedToolsSchema,
  NamedUpstreamSchema,
  spellCount,
  UpstreamListSchema,
  UpstreamSchema,
} from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { InstalledTool } from '../../programs/installed-tool.ts';
import { describeDifference } from '../../programs/tools/describe-installed.ts';
import { sha256Property } from '../../programs/tools/program-tools.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { addTool } from './add-upstream.ts';
import { describeUpstream, explainUpstream, hashPending, isPending, packageOf, toolsOf } from './describe-upstream.ts';
import { logTool } from './log-tool.ts';
import { loginTool, logoutTool } from './login-upstream.ts';
import { namedRequests } from './request-tools.ts';
import { findUpstream, named } from './upstream-parts.ts';
import type { Named, UpstreamToolParts } from './upstream-parts.ts';
import * as schema from '../../registry/schemas/schema.ts';

type Looked = Named & { readonly tools?: readonly string[]; readonly sha256?: string };

/** Tools to add, show and remove upstream servers. Governed calls, for operators only. */
export function upstreamTools(parts: UpstreamToolParts): readonly AnyTool[] {
  return [
    listTool(parts),
    showTool(parts),
    testTool(parts),
    logTool(parts),
    addTool(parts),
    removeTool(parts),
    acceptTool(parts),
    loginTool(parts),
    logoutTool(parts),
    ...namedRequests(),
  ];
}

function listTool({ upstreams, installed }: UpstreamToolParts) {
  return defineOperatorTool({
    name: 'upstreams.list',
    description: 'Lists the upstream servers and their state, and mistakes in their files.',
    mutates: false,
    answers: UpstreamListSchema,
    run: () => {
      const described = upstreams.all.map((upstream) => describeUpstream(upstream, installed));
      return { upstreams: described, mistakes: upstreams.mistakes };
    },
    summarize: (_args, output) => spellCount(output.upstreams.length, 'upstream'),
  });
}

function showTool(parts: UpstreamToolParts) {
  return defineOperatorTool({
    name: 'upstreams.show',
    description: 'Shows one upstream server, its tools, and what is different in them since they were accepted.',
    mutates: false,
    ...named,
    answers: UpstreamSchema,
    run: ({ name }, { redact }) => explainUpstream(findUpstream(parts, name), parts, redact),
    summarize: ({ name }) => `showed ${name}`,
  });
}

function testTool(parts: UpstreamToolParts) {
  return defineOperatorTool({
    name: 'upstreams.test',
    description: 'Reaches an upstream server at once and has it list its tools. Fails with the reason if it cannot.',
    mutates: false,
    timeoutMs: 45_000,
    ...named,
    answers: UpstreamSchema,
    run: async ({ name }, { redact }) => {
      const upstream = findUpstream(parts, name);
      await upstream.reconnect().catch((error: unknown) => {
        // Operators call this, and may know what callers may not.
        const isFailed = error instanceof ToolFailure && error.code === 'UPSTREAM_FAILED';
        throw isFailed ? new ToolFailure('UPSTREAM_FAILED', upstream.trouble) : error;
      });
      await parts.installed.refresh();
      return explainUpstream(upstream, parts, redact);
    },
    summarize: ({ name }) => `reached ${name}`,
  });
}

function removeTool(parts: UpstreamToolParts) {
  const { installed, files, packages, logs, reload } = parts;
  return defineOperatorTool({
    name: 'upstreams.remove',
    description:
      'Ends an upstream server, deletes its file, and forgets its login and which of its tools were accepted.',
    mutates: true,
    idempotent: true,
    ...named,
    answers: NamedUpstreamSchema,
    preview: ({ name }) => {
      const { config } = findUpstream(parts, name);
      return { summary: `Remove the upstream ${name}.`, detail: `deletes ${config.file}\n` };
    },
    run: async ({ name }, { session }) => {
      const upstream = findUpstream(parts, name);
      await upstream.logOut();
      await files.remove(upstream.config);
      for (const tool of toolsOf(name, installed)) await installed.forget(tool, session.agent);
      await reload();
      await upstream.close();
      await logs.remove(name);
      const pinned = packageOf(upstream);
      if (pinned !== undefined && !files.mentions(pinned)) await packages.drop(pinned);
      return { name };
    },
    summarize: ({ name }) => `removed ${name}`,
  });
}

function acceptTool(parts: UpstreamToolParts) {
  const { installed, accepted } = parts;
  const pendingOf = ({ name, tools: chosen, sha256 }: Looked): readonly InstalledTool[] => {
    const { config } = findUpstream(parts, name.split('.', 1)[0] ?? '');
    const wanted = chosen ?? (name.includes('.') ? [name] : undefined);
    const tools = toolsOf(config.name, installed);
    if (sha256 !== undefined && !hashPending(tools).startsWith(sha256)) {
      throw new ToolFailure('FILE_CHANGED', `${config.name} offers something else now. Look at it again.`);
    }
    const unknown = wanted?.find((each) => !tools.some(({ definition }) => definition.name === each));
    if (unknown !== undefined) throw new ToolFailure('NOT_FOUND', `${config.name} has no tool ${unknown}.`);
    return tools.filter((tool) => isPending(tool) && wanted?.includes(tool.definition.name) !== false);
  };
  return defineOperatorTool({
    name: 'upstreams.accept',
    description: 'Accepts tools of an upstream server as they are now: exactly these descriptions and schemas.',
    mutates: true,
    idempotent: true,
    properties: {
      name: schema.string('An upstream, or one of its tools.', { minLength: 1, maxLength: 64 }),
      tools: schema.array('Only these of its tools. Absent: all that wait.', { type: 'string' }, { maxItems: 500 }),
      sha256: sha256Property,
    },
    required: ['name'],
    answers: AcceptedToolsSchema,
    preview: (args) => {
      const pending = pendingOf(args);
      const shown = pending.map((tool) => `${tool.status}: ${tool.id}\n${describeDifference(tool, accepted)}`);
      const summary = `Accept ${spellCount(pending.length, 'tool')} of ${args.name}.`;
      return { summary, detail: shown.join(''), undoable: true };
    },
    run: async (args, { session }) => {
      const pending = pendingOf(args);
      for (const tool of pending) await installed.accept(tool, session.agent);
      return { accepted: pending.map(({ definition }) => definition.name) };
    },
    summarize: (_args, output) => `accepted ${spellCount(output.accepted.length, 'tool')}`,
  });
}
