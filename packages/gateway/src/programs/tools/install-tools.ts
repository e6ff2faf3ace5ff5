import { InstalledToolsSchema } from '@sallyport/contract';
import type { ToolContext } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { joinVersion } from '../../registry/tool-name.ts';
import { installToolFile, toolFileKinds } from '../install-tool-file.ts';
import type { ToolFileBytes } from '../install-tool-file.ts';
import { judgeOffer } from '../installed-tool.ts';
import type { InstalledTool } from '../installed-tool.ts';
import type { ToolOffer } from '../tool-offer.ts';
import { describeInstalled, explainInstalled } from './describe-installed.ts';
import type { ProgramToolParts } from './program-tools.ts';
import * as schema from '../../registry/schemas/schema.ts';

const properties = {
  file_name: schema.string('Name for the file, such as text.count.py.', { minLength: 1, maxLength: 140 }),
  content_hash: schema.string('As content.put returned it.', { pattern: '^[0-9a-f]{64}$' }),
  kind: {
    enum: [...toolFileKinds],
    default: 'file',
    description: 'file: the content is the program. folder: it is a bundle of the files of a folder.',
  },
} as const;
type InstallArguments = schema.ValuesOf<typeof properties, 'file_name' | 'content_hash'>;

/** Copying and asking a program with thousands of files takes its time. */
const taking = { properties, required: ['file_name', 'content_hash'], timeoutMs: 60_000 } as const;

/** What a person looks at before a program is installed. */
export function inspectTool({ installed, accepted, inspect }: ProgramToolParts) {
  return defineOperatorTool({
    name: 'tools.inspect',
    description: 'Shows how a program in the content store describes itself, without installing it.',
    mutates: false,
    ...taking,
    answers: InstalledToolsSchema,
    preview: ({ file_name: file }) => ({ summary: `Ask ${file} what it is, in the sandbox.` }),
    run: async (args, { content, signal, redact }) => {
      const { offers, skipped } = await inspect(bytesOf(args, content), signal);
      const taken = offers.flatMap((offer) => explainTaken(installed.all, offer));
      if (taken.length > 0) return { tools: [], skipped: taken.map((reason) => ({ file: args.file_name, reason })) };
      const tools = offers.map((offer) =>
        explainInstalled(judgeAgainst(installed.all, offer), accepted, { isDefault: false, redact }),
      );
      return { tools, skipped };
    },
    summarize: ({ file_name: file }) => `looked at ${file}`,
  });
}

/** When one file is already this tool, a second file is not a tool. */
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

export function installTool({ installed, folder, isDefault }: ProgramToolParts) {
  return defineOperatorTool({
    name: 'tools.install',
    description: 'Copies a program from the content store into the tools folder. It must still be accepted.',
    mutates: true,
    idempotent: true,
    ...taking,
    answers: InstalledToolsSchema,
    preview: ({ file_name: file, content_hash: hash }) => {
      return { summary: `Install ${file}.`, detail: `from the content ${hash}\n`, undoable: true };
    },
    run: async (args, { content, signal, redact }) => {
      const { file_name: file } = args;
      await installToolFile(folder, bytesOf(args, content));
      await installed.refreshUntilSettled(signal);
      const tools = installed.all.filter(({ offer }) => offer?.file === file);
      return {
        tools: tools.map((tool) => describeInstalled(tool, { isDefault: isDefault(tool), redact })),
        skipped: installed.skipped.filter((each) => each.file === file),
      };
    },
    summarize: ({ file_name: file }) => `installed ${file}`,
  });
}

function bytesOf(
  { file_name: file, content_hash: hash, kind }: InstallArguments,
  content: ToolContext['content'],
): ToolFileBytes {
  return { file, kind, bytes: content.read(hash) };
}
