import { InstalledToolSchema, InstalledToolsSchema, RemovedToolSchema, spellCount } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { checkShown } from '../../call/check-shown.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import type { AcceptedDefinitions } from '../accepted-definitions.ts';
import { removeToolFile } from '../install-tool-file.ts';
import type { InstalledTool } from '../installed-tool.ts';
import type { InstalledTools } from '../installed-tools.ts';
import { describeDifference, describeInstalled, explainInstalled } from './describe-installed.ts';
import type { InspectProgram } from './inspect-program.ts';
import { inspectTool, installTool } from './install-tools.ts';
import * as schema from '../../registry/schemas/schema.ts';

export interface ProgramToolParts {
  readonly installed: InstalledTools;
  readonly accepted: Pick<AcceptedDefinitions, 'read'>;
  /** The folder of programs that are tools. */
  readonly folder: string;
  readonly inspect: InspectProgram;
  /** Whether a call of this name, without a version, means this version. */
  readonly isDefault: (tool: InstalledTool) => boolean;
}

interface Named {
  readonly name: string;
  readonly version?: string;
}

type Looked = Named & { readonly sha256?: string };

/** Taking tools in, looking at them and throwing them out. Governed calls like any other, for operators only. */
export function programTools(parts: ProgramToolParts): readonly AnyTool[] {
  return [statusTool(parts), acceptTool(parts), inspectTool(parts), installTool(parts), removeTool(parts)];
}

const named = {
  name: schema.string('Name of the tool.', { minLength: 1, maxLength: 64 }),
  version: schema.string('Version of the tool. Absent: the newest that waits to be accepted, or else the newest.', {
    minLength: 1,
    maxLength: 64,
  }),
} as const satisfies JsonObject;

/** How somebody who looked at something says what they saw. */
export const sha256Property = schema.string(
  'First digits of the hash of the tool that you looked at. Absent: the tool as it is now.',
  { pattern: '^[0-9a-f]{12,64}$' },
);

function statusTool({ installed, accepted, isDefault }: ProgramToolParts) {
  return defineOperatorTool({
    name: 'tools.status',
    description: 'Shows all versions of the installed tools, and files in the tools folder that are not tools.',
    mutates: false,
    properties: { ...named, name: { ...named.name, description: 'Absent: all tools, without their details.' } },
    answers: InstalledToolsSchema,
    run: async ({ name, version }, { signal, redact }) => {
      const standing = (tool: InstalledTool) => ({ isDefault: isDefault(tool), redact });
      if (name === undefined) {
        const tools = installed.all.map((tool) => describeInstalled(tool, standing(tool)));
        return { tools, skipped: installed.skipped };
      }
      // A person who asks about one tool may have written it a moment ago.
      await installed.refreshUntilSettled(signal);
      const tool = installed.find(name, version);
      return { tools: [explainInstalled(tool, accepted, standing(tool))], skipped: [] };
    },
    summarize: (_args, { tools }) => spellCount(tools.length, 'tool'),
  });
}

function acceptTool({ installed, accepted, isDefault }: ProgramToolParts) {
  const find = ({ name, version, sha256 }: Looked): InstalledTool => {
    const tool = installed.find(name, version);
    if (sha256 === undefined || tool.offer?.fileSha256.startsWith(sha256) === true) return tool;
    throw new ToolFailure('FILE_CHANGED', `${tool.id} is not the one with the hash ${sha256}. Look at it again.`);
  };
  return defineOperatorTool({
    name: 'tools.accept',
    description: 'Accepts a tool as it is now: exactly these bytes and this description may run.',
    mutates: true,
    idempotent: true,
    properties: { ...named, sha256: sha256Property },
    required: ['name'],
    answers: InstalledToolSchema,
    preview: (args) => {
      const tool = find(args);
      const trouble = tool.reason === '' ? '' : `${tool.status}: ${tool.reason}\n`;
      const detail = `${trouble}sha256: ${tool.offer?.fileSha256 ?? ''}\n${describeDifference(tool, accepted)}`;
      return { summary: `Accept ${tool.id}.`, detail, undoable: true, basis: tool.key };
    },
    run: async (args, context) => {
      const tool = find(args);
      checkShown(tool.key, tool.id, context);
      await installed.accept(tool, context.session.agent);
      const now = installed.find(tool.definition.name, tool.definition.version);
      return describeInstalled(now, { isDefault: isDefault(now), redact: context.redact });
    },
    summarize: (_args, { name }) => `accepted ${name}`,
  });
}

function removeTool({ installed, folder }: ProgramToolParts) {
  return defineOperatorTool({
    name: 'tools.remove',
    description: 'Removes the file of a tool from the tools folder, and forgets that it was accepted.',
    mutates: true,
    idempotent: true,
    properties: named,
    required: ['name'],
    answers: RemovedToolSchema,
    preview: ({ name, version }) => {
      const { id, offer } = installed.find(name, version);
      return { summary: `Remove ${id}.`, detail: offer === undefined ? '' : `deletes ${offer.file}\n` };
    },
    run: async ({ name, version }, { session }) => {
      const tool = installed.find(name, version);
      if (tool.offer?.origin === 'configured' || tool.offer?.origin === 'pipeline') {
        const message = `${tool.id} is defined in ${tool.offer.file}. Remove it from that file.`;
        throw new ToolFailure('EXECUTION_ERROR', message, { category: 'validation_failed' });
      }
      if (tool.offer !== undefined) await removeToolFile(folder, tool.offer.file);
      await installed.forget(tool, session.agent);
      await installed.refresh();
      return { name: tool.definition.name, version: tool.definition.version };
    },
    summarize: (_args, { name }) => `removed ${name}`,
  });
}
