import { wholeText } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';

/** A place in the arguments of a step, or in the output, that takes a value of the input or of an earlier step. */
export interface Reference {
  /** As it is written: `${steps.read.content}`. */
  readonly text: string;
  /** Absent: it is about the input of the pipeline. */
  readonly step?: string;
  /** Names of members and numbers of items, outermost first. Empty: all of it. */
  readonly path: readonly string[];
}

/** JSON with references in it. */
export type Template =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'text'; readonly pieces: readonly (string | Reference)[] }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: Template])[] };

export class TemplateError extends Error {}

const pathForm = /^(?:input|steps\.[A-Za-z0-9_-]+)(?:\.[A-Za-z0-9_-]+)*$/;
const escapeAdvice = 'write $${ for the characters themselves';

/** A text that is one reference and nothing else keeps the type of its value. Throws TemplateError. */
export function parseText(text: string): Template {
  const pieces = splitText(text);
  const [first = ''] = pieces;
  if (pieces.length > 1) return { kind: 'text', pieces };
  return typeof first === 'string' ? { kind: 'value', value: first } : { kind: 'reference', reference: first };
}

export function referencesIn(template: Template): readonly Reference[] {
  switch (template.kind) {
    case 'value':
      return [];
    case 'reference':
      return [template.reference];
    case 'text':
      return template.pieces.filter((piece) => typeof piece !== 'string');
    case 'list':
      return template.items.flatMap(referencesIn);
    case 'object':
      return template.members.flatMap(([, value]) => referencesIn(value));
  }
}

/** Never returns two texts in a row. */
function splitText(text: string): (string | Reference)[] {
  const pieces: (string | Reference)[] = [];
  let plain = '';
  for (let at = 0; at < text.length;) {
    const next = text.indexOf('$', at);
    plain += text.slice(at, next < 0 ? text.length : next);
    if (next < 0) break;
    if (text.startsWith('$${', next)) {
      plain += '${';
      at = next + 3;
    } else if (text.startsWith('${', next)) {
      const end = text.indexOf('}', next);
      if (end < 0) throw new TemplateError(`"\${" has no "}"; ${escapeAdvice}`);
      if (plain !== '') pieces.push(plain);
      plain = '';
      pieces.push(parseReference(text.slice(next, end + 1)));
      at = end + 1;
    } else {
      plain += '$';
      at = next + 1;
    }
  }
  if (plain !== '') pieces.push(plain);
  return pieces;
}

function parseReference(text: string): Reference {
  const path = text.slice(2, -1);
  if (!pathForm.test(path)) {
    const shown = JSON.stringify(wholeText(text));
    throw new TemplateError(
      `${shown} is not a reference such as \${input.path} or \${steps.read.content}; ${escapeAdvice}`,
    );
  }
  const [root, ...parts] = path.split('.');
  const [step = '', ...rest] = parts;
  return root === 'input' ? { text, path: parts } : { text, step, path: rest };
}
