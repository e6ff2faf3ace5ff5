import type { Json, JsonObject } from '@sallyport/contract';
import { canonicalJson } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';

/** One argument of a command: text, with places that take an argument of the call. */
export type TemplateWord = readonly (string | { readonly name: string })[];

const place = /\{\{([^{}]*)\}\}/;

/** Names in `{{ }}` stand for arguments of the call; everything else for itself. */
export function parseTemplateWord(text: string): TemplateWord {
  const pieces = text.split(place);
  const word = pieces.map((piece, index) => (index % 2 === 1 ? { name: piece.trim() } : piece));
  return word.filter((piece) => piece !== '');
}

export function placesOf(word: TemplateWord): readonly string[] {
  return word.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]));
}

/**
 * The arguments of the command. Each word of the template becomes one argument, whatever is put into it, or none when
 * an argument of the call is absent. Throws ToolRefused for a text that the program would take for an option.
 */
export function fillTemplate(words: readonly TemplateWord[], args: JsonObject): readonly string[] {
  const filled: string[] = [];
  for (const word of words) {
    if (placesOf(word).some((name) => args[name] === undefined)) continue;
    const text = word.map((piece) => (typeof piece === 'string' ? piece : spell(args[piece.name] ?? null))).join('');
    if (text.includes('\0')) throw unfit(`An argument holds a NUL.`);
    const [first] = word;
    const isChosenByCaller = typeof first === 'object' && typeof args[first.name] === 'string';
    if (isChosenByCaller && text.startsWith('-') && !filled.includes('--')) {
      throw unfit(`The argument ${first.name} starts with "-", and the program would take it for an option.`);
    }
    filled.push(text);
  }
  return filled;
}

/** Text as it is, everything else as JSON. */
function spell(value: Json): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

function unfit(message: string): ToolRefused {
  return new ToolRefused(refuse('INVALID_ARGUMENTS', 'command-template', message));
}
