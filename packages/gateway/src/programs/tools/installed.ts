import type { JsonObject } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, Tool } from '../../call/tool.ts';
import type { AcceptedDefinitions } from '../accepted-definitions.ts';
import type { InstalledTool } from '../installed-tool.ts';
import type { InstalledTools } from '../installed-tools.ts';
import { removeToolFile } from '../install-tool-file.ts';
import { defineAdministration } from '../../registry/administration.ts';
import { checkShown } from '../../call/check-shown.ts';
import { describeDifference, describeInstalled } from './describe-installed.ts';
import type { InspectProgram } from './inspect-program.ts';
import { inspectTool, installTool } from './install-tools.ts';

export interface ToolAdministration {
  readonly installed: InstalledTools;
  readonly accepted: Pick<AcceptedDefinitions, 'read'>;
  /** Where programs lie that are tools. */
  readonly folder: string;
  readonly inspect: InspectProgram;
  /** Whether a call of this name, without a version, means this version. */
  readonly isDefault: (tool: InstalledTool) => boolean;
}

interface Named {
  readonly name: string;
  readonly version?: string;
}

/** Taking tools in, looking at them and throwing them out. Governed calls like any other, for operators only. */
export function toolTools(parts: ToolAdministration): readonly AnyTool[] {
  const tools = [statusTool(parts), acceptTool(parts), inspectTool(parts), installTool(parts), removeTool(parts)];
  return tools as unknown as AnyTool[];
}

const named = {
  name: { type: 'string', minLength: 1, maxLength: 64, description: 'Name of the tool.' },
  version: { type: 'string', minLength: 1, maxLength: 64, description: 'Absent: the newest one it can be about.' },
} as const satisfies JsonObject;

const standing: JsonObject = {
  type: 'object',
  required: ['name', 'version', 'status', 'accepted', 'is_default'],
  properties: {
    name: { type: 'string' },
    version: { type: 'string' },
    status: { enum: ['ready', 'new', 'changed', 'schema-unknown', 'missing-binary'] },
    reason: { type: 'string', description: 'Why it is not ready. Absent: it is.' },
    stderr: { type: 'string', description: 'What it wrote to standard error when it was asked for its schema.' },
    accepted: { type: 'boolean', description: 'Whether exactly this was accepted.' },
    is_default: { type: 'boolean', description: 'Whether a call that names no version means this one.' },
  },
};

function statusTool({ installed, accepted, isDefault }: ToolAdministration): Tool<Partial<Named>> {
  return {
    definition: defineAdministration({
      name: 'tools.status',
      description: 'Shows the installed tools, every version of them, and what lies in the tools folder and is none.',
      mutates: false,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        properties: { ...named, name: { ...named.name, description: 'Absent: all tools, without their details.' } },
      },
      outputSchema: {
        type: 'object',
        required: ['tools', 'skipped'],
        properties: {
          tools: { type: 'array', items: standing },
          skipped: { type: 'array', items: { type: 'object', required: ['file', 'reason'] } },
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'Show the installed tools.', detail: '', undoable: true }),
    run: async ({ name, version }, { signal, redact }) => {
      // Whoever asks about one tool may have written it a moment ago.
      if (name !== undefined) await installed.refreshUntilSettled(signal);
      const shown = name === undefined ? installed.all : [installed.find(name, version)];
      const tools = shown.map((tool) => {
        const about = describeInstalled(tool, { isDefault: isDefault(tool), redact });
        if (name === undefined) return about;
        const difference = describeDifference(tool, accepted);
        return { ...about, ...(tool.offer === undefined ? {} : { definition: tool.offer.detail }), difference };
      });
      const skipped = name === undefined ? installed.skipped.map((each) => ({ ...each })) : [];
      return { tools, skipped };
    },
    summarize: (_args, output) => `${(output as { tools: readonly unknown[] }).tools.length} tools`,
  };
}

function acceptTool(parts: ToolAdministration): Tool<Named & { readonly sha256?: string }> {
  const { installed, accepted, isDefault } = parts;
  const find = ({ name, version, sha256 }: Named & { readonly sha256?: string }): InstalledTool => {
    const tool = installed.find(name, version);
    if (sha256 === undefined || tool.offer?.fileSha256.startsWith(sha256) === true) return tool;
    throw new ToolFailure('FILE_CHANGED', `${tool.id} is not the one with the hash ${sha256}. Look at it again.`);
  };
  return {
    definition: defineAdministration({
      name: 'tools.accept',
      description: 'Accepts a tool as it is now: exactly these bytes and this description may run.',
      mutates: true,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          ...named,
          sha256: {
            type: 'string',
            pattern: '^[0-9a-f]{12,64}$',
            description: 'Beginning of the hash of the file that was looked at. Absent: whatever is there now.',
          },
        },
      },
      outputSchema: standing,
    }),
    claim: () => ({ paths: [] }),
    preview: async (args) => {
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
    summarize: (_args, output) => `accepted ${(output as { name: string }).name}`,
  };
}

function removeTool({ installed, folder }: ToolAdministration): Tool<Named> {
  return {
    definition: defineAdministration({
      name: 'tools.remove',
      description: 'Removes the file of a tool from the tools folder, and forgets that it was accepted.',
      mutates: true,
      idempotent: true,
      inputSchema: { type: 'object', additionalProperties: false, required: ['name'], properties: named },
      outputSchema: {
        type: 'object',
        required: ['name', 'version'],
        properties: { name: { type: 'string' }, version: { type: 'string' } },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: async ({ name, version }) => {
      const { id, offer } = installed.find(name, version);
      const detail = offer === undefined ? '' : `deletes ${offer.file}\n`;
      return { summary: `Remove ${id}.`, detail, undoable: false };
    },
    run: async ({ name, version }, { session }) => {
      const tool = installed.find(name, version);
      if (tool.offer?.origin === 'configured' || tool.offer?.origin === 'pipeline') {
        const message = `${tool.id} stands in ${tool.offer.file}. Take it out of that file.`;
        throw new ToolFailure('EXECUTION_ERROR', message, { category: 'validation_failed' });
      }
      if (tool.offer !== undefined) await removeToolFile(folder, tool.offer.file);
      await installed.forget(tool, session.agent);
      await installed.refresh();
      return { name: tool.definition.name, version: tool.definition.version };
    },
    summarize: (_args, output) => `removed ${(output as { name: string }).name}`,
  };
}
