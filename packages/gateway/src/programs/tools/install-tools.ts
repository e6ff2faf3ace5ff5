import type { JsonObject } from '@sallyport/contract';
import type { Tool, ToolContext, ToolDefinition } from '../../call/tool.ts';
import { installToolFile, toolFileKinds } from '../install-tool-file.ts';
import type { ToolFileBytes, ToolFileKind } from '../install-tool-file.ts';
import { judgeOffer } from '../installed-tool.ts';
import type { InstalledTool } from '../installed-tool.ts';
import { joinVersion } from '../../registry/tool-name.ts';
import type { ToolOffer } from '../tool-offer.ts';
import { defineAdministration } from '../../registry/administration.ts';
import { describeDifference, describeInstalled } from './describe-installed.ts';
import type { ToolAdministration } from './installed.ts';

interface InstallArguments {
  readonly file_name: string;
  readonly content_hash: string;
  /** Absent: a file. */
  readonly kind?: ToolFileKind;
}

const inputSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['file_name', 'content_hash'],
  properties: {
    file_name: { type: 'string', minLength: 1, maxLength: 140, description: 'Such as text.count.py.' },
    content_hash: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'As content.put returned it.' },
    kind: {
      enum: [...toolFileKinds],
      default: 'file',
      description: 'file: the content is the program. folder: it is a bundle of the files of a folder.',
    },
  },
};

/** Copying and asking a program with thousands of files takes its time. */
function defineTaking(definition: Parameters<typeof defineAdministration>[0]): ToolDefinition {
  return { ...defineAdministration(definition), timeoutMs: 60_000 };
}

/** What a person looks at before a program is installed. */
export function inspectTool(parts: ToolAdministration): Tool<InstallArguments> {
  const { installed, accepted, inspect } = parts;
  return {
    definition: defineTaking({
      name: 'tools.inspect',
      description: 'Shows what a program that was stored as content says about itself. It is not installed by that.',
      mutates: false,
      idempotent: true,
      inputSchema,
      outputSchema: {
        type: 'object',
        required: ['tools', 'skipped'],
        properties: {
          tools: { type: 'array', items: { type: 'object', required: ['name', 'version', 'status', 'sha256'] } },
          skipped: { type: 'array', items: { type: 'string' }, description: 'Why it is no tool.' },
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: ({ file_name: file }) =>
      Promise.resolve({ summary: `Ask ${file} what it is, in the sandbox.`, detail: '', undoable: true }),
    run: async (args, context) => {
      const { offers, skipped } = await inspect(bytesOf(args, context), context.signal);
      const taken = offers.flatMap((offer) => explainTaken(installed.all, offer));
      if (taken.length > 0) return { tools: [], skipped: taken };
      const tools = offers.map((offer) => {
        const tool = judgeAgainst(installed.all, offer);
        const about = describeInstalled(tool, { isDefault: false, redact: context.redact });
        return { ...about, definition: offer.detail, difference: describeDifference(tool, accepted) };
      });
      return { tools, skipped: skipped.map(({ reason }) => reason) };
    },
    summarize: ({ file_name: file }) => `looked at ${file}`,
  };
}

/** Beside a file that is this tool already, a second one is none. */
function explainTaken(installed: readonly InstalledTool[], { tool, file }: ToolOffer): readonly string[] {
  const { name, version } = tool.definition;
  const other = installed.find(({ id }) => id === joinVersion(name, version))?.offer?.file;
  if (other === undefined || other === file) return [];
  return [`${other} is ${joinVersion(name, version)} already; give it that name to replace it, or another version`];
}

/** As it would stand. A version that nobody has seen is compared with the newest one that was accepted. */
function judgeAgainst(installed: readonly InstalledTool[], offer: ToolOffer): InstalledTool {
  const { name, version } = offer.tool.definition;
  const known = installed.filter(({ definition, pin }) => definition.name === name && pin !== undefined);
  const own = known.find(({ definition }) => definition.version === version)?.pin;
  const judged = judgeOffer(offer, own);
  const pin = own ?? known.at(-1)?.pin;
  return pin === undefined ? judged : { ...judged, pin };
}

export function installTool({ installed, folder }: ToolAdministration): Tool<InstallArguments> {
  return {
    definition: defineTaking({
      name: 'tools.install',
      description: 'Puts a program that was stored as content into the tools folder. It still has to be accepted.',
      mutates: true,
      idempotent: true,
      inputSchema,
      outputSchema: {
        type: 'object',
        required: ['file_name', 'tools', 'skipped'],
        properties: {
          file_name: { type: 'string' },
          tools: { type: 'array', items: { type: 'string' }, description: 'What the file is now.' },
          skipped: { type: 'array', items: { type: 'string' }, description: 'Why it is no tool.' },
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: ({ file_name: file, content_hash: hash }) =>
      Promise.resolve({ summary: `Install ${file}.`, detail: `from the content ${hash}\n`, undoable: true }),
    run: async (args, context) => {
      const { file_name: file } = args;
      await installToolFile(folder, bytesOf(args, context));
      await installed.refreshUntilSettled(context.signal);
      return {
        file_name: file,
        tools: installed.all.filter(({ offer }) => offer?.file === file).map(({ id }) => id),
        skipped: installed.skipped.filter((each) => each.file === file).map(({ reason }) => reason),
      };
    },
    summarize: ({ file_name: file }) => `installed ${file}`,
  };
}

function bytesOf(
  { file_name: file, content_hash: hash, kind = 'file' }: InstallArguments,
  context: ToolContext,
): ToolFileBytes {
  return { file, kind, bytes: context.content.read(hash) };
}
