import { spellCount } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';

/** Refuses a file that is, or would become, larger than the rules let this call read or write. Throws ToolRefused. */
export function checkFileSize(given: string, bytes: number, { grants }: Pick<ToolContext, 'grants'>): void {
  const { fileBytes = Infinity } = grants.limits;
  if (bytes <= fileBytes) return;
  const message = `${given} has ${spellCount(bytes, 'byte')} or would have them, and the rules allow files of ${spellCount(fileBytes, 'byte')} here.`;
  throw new ToolRefused(
    refuse('RULE_DENIES', 'max-file-size', message, {
      remedy: 'Use smaller files.',
      forOperators: 'Use smaller files, or raise max_file_size_mb for this tool.',
    }),
  );
}
