import { isUtf8 } from 'node:buffer';
import { spellBytes } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';

const maxPromptBytes = 8 * 1024 * 1024;

export interface PromptArguments {
  readonly prompt?: string;
  readonly prompt_hash?: string;
  readonly system_prompt?: string;
  readonly system_prompt_hash?: string;
}

export interface Prompts {
  readonly prompt: string;
  readonly system: string | undefined;
}

/** The prompts of a call: as they stand in it, or from the content store, as far as the session may use that. */
export async function readPrompts(args: PromptArguments, context: ToolContext): Promise<Prompts> {
  const prompt = await readOne('prompt', args.prompt, args.prompt_hash, context);
  if (prompt === undefined) throw badPrompt('The call has neither prompt nor prompt_hash.');
  return { prompt, system: await readOne('system_prompt', args.system_prompt, args.system_prompt_hash, context) };
}

async function readOne(
  key: string,
  text: string | undefined,
  hash: string | undefined,
  { content }: ToolContext,
): Promise<string | undefined> {
  if (text !== undefined && hash !== undefined) throw badPrompt(`The call has both ${key} and ${key}_hash.`);
  if (hash === undefined) return text;
  const sizeBytes = await content.sizeOf(hash);
  if (sizeBytes > maxPromptBytes)
    throw new ToolFailure(
      'TOO_LARGE',
      `${spellBytes(sizeBytes)} are more than a prompt may have (${spellBytes(maxPromptBytes)}).`,
    );
  const bytes = Buffer.concat(await Array.fromAsync(content.read(hash)));
  if (!isUtf8(bytes)) throw new ToolFailure('NOT_TEXT', `The content of ${key}_hash is not UTF-8 text.`);
  return bytes.toString();
}

function badPrompt(message: string): ToolRefused {
  return new ToolRefused(refuse('INVALID_ARGUMENTS', 'schema', message, { remedy: 'Give one of the two.' }));
}
