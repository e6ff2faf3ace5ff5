import { RE2JS } from 're2js';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';

/** Tells whether a text matches. Patterns run on RE2: the time grows only with the text, even for a hostile pattern. */
export type Matches = (text: string) => boolean;

interface PatternOptions {
  readonly caseSensitive: boolean;
}

/** A regular expression that may match anywhere in the text. Throws ToolRefused. */
export function compileExpression(expression: string, { caseSensitive }: PatternOptions): Matches {
  try {
    const compiled = RE2JS.compile(expression, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
    return (text) => compiled.test(text);
  } catch (error) {
    // The engine quotes a part of the pattern, and a part of a secret is one that nobody recognises any more.
    const reason = error instanceof Error ? error.message.replace(/: `[^]{8,}`$/, '') : 'unknown error';
    throw invalid(`The pattern is not valid RE2: ${reason}.`);
  }
}

/** A literal text that may stand anywhere. */
export function compileLiteral(literal: string, options: PatternOptions): Matches {
  return compileExpression(RE2JS.quote(literal), options);
}

/**
 * A glob that must match the whole text: `*` and `?` stop at `/`, `**` does not, `[a-z]` and `[!a-z]` are sets and
 * `{a,b}` are alternatives. Throws ToolRefused.
 */
export function compileGlob(glob: string, options: PatternOptions): Matches {
  return compileExpression(`(?s)\\A(?:${translateGlob(glob)})\\z`, options);
}

const token = /\*\*\/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|[{},]|[^*?[{},]+|\[/gu;

function translateGlob(glob: string): string {
  let depth = 0;
  let expression = '';
  for (const [part] of glob.matchAll(token)) {
    if (part === '{') depth++;
    if (part === '}') depth--;
    if (depth < 0) break;
    expression += translateToken(part, depth);
  }
  if (depth !== 0) throw invalid('The braces of the glob are not balanced.');
  return expression;
}

function translateToken(part: string, depth: number): string {
  switch (part) {
    case '**/':
      return '(?:.*/)?';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    case '{':
      return '(?:';
    case '}':
      return ')';
    case ',':
      return depth > 0 ? '|' : ',';
    default:
      return part.startsWith('[') && part.endsWith(']') && part.length > 2 ? translateSet(part) : RE2JS.quote(part);
  }
}

function translateSet(part: string): string {
  const negated = part[1] === '!';
  const members = part.slice(negated ? 2 : 1, -1).replace(/[\\\][^&~]/g, '\\$&');
  return negated ? `[^/${members}]` : `[${members}]`;
}

function invalid(message: string): ToolRefused {
  return new ToolRefused(refuse('INVALID_ARGUMENTS', 'pattern-syntax', message));
}
