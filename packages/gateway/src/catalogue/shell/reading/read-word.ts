import type { ParsedScript, Word, WordPart } from 'unbash';
import type { ReadWord, Scope } from './reading.ts';

/** Reads scripts inside words. */
export type ReadInner = (script: ParsedScript | undefined, text: string) => void;

/** What a program gets for a word, if that can be known without running anything. */
export function readWord(word: Word, scope: Scope, readInner: ReadInner): ReadWord {
  const { text } = word;
  const parts = word.parts ?? [];
  if (parts.length === 0) return plain(text, expandTilde(word.value, text, scope));
  let value: string | undefined = '';
  let isPattern = false;
  for (const [index, part] of parts.entries()) {
    const piece = readPart(part, scope, readInner, false);
    if (piece.isPattern === true) isPattern = true;
    const own = index === 0 && part.type === 'Literal' ? expandTilde(piece.value, part.text, scope) : piece.value;
    value = value === undefined || own === undefined ? undefined : value + own;
  }
  return { ...plain(text, value), ...(isPattern ? { isPattern } : {}) };
}

function plain(text: string, value: string | undefined): ReadWord {
  return value === undefined ? { text } : { text, value };
}

interface Piece {
  readonly value?: string | undefined;
  readonly isPattern?: boolean;
}

function readPart(part: WordPart, scope: Scope, readInner: ReadInner, isQuoted: boolean): Piece {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return { value: part.value };
    case 'DoubleQuoted':
    case 'LocaleString': {
      const pieces = part.parts.map((child) => readPart(child, scope, readInner, true).value);
      return { value: pieces.includes(undefined) ? undefined : pieces.join('') };
    }
    case 'SimpleExpansion':
      return { value: expand(part.text.slice(1), scope, isQuoted) };
    case 'ParameterExpansion': {
      readInside(part, scope, readInner);
      // `${x:=y}` sets it.
      if (part.operation?.type === 'Default' && part.operation.operator.endsWith('=')) scope.assigned(part.parameter);
      const isPlain = part.prefix === undefined && part.index === undefined && part.operation === undefined;
      return { value: isPlain ? expand(part.parameter, scope, isQuoted) : undefined };
    }
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      readInner(part.script, part.text);
      return part.type === 'ProcessSubstitution' ? { value: '/dev/fd/63' } : {};
    case 'ArithmeticExpansion':
      readArithmetic(part.expression, readInner);
      return {};
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      for (const child of part.parts ?? []) readPart(child, scope, readInner, isQuoted);
      return { value: part.text, isPattern: true };
  }
}

/** A shell splits an unquoted value at spaces and looks for patterns in it; what has neither stays as it is. */
function expand(name: string, scope: Scope, isQuoted: boolean): string | undefined {
  const value = scope.lookUp(name);
  return value === undefined || isQuoted || /^[^\s*?[\]{}~\\]+$/.test(value) ? value : undefined;
}

function expandTilde(value: string | undefined, text: string, { home }: Scope): string | undefined {
  if (value === undefined || !text.startsWith('~')) return value;
  if (value === '~' || value.startsWith('~/')) return home + value.slice(1);
  // The home of somebody else, or a folder where the shell was before.
  return undefined;
}

/** Substitutions in the operation of an expansion run too: `${x:-$(rm y)}`. */
function readInside(node: object, scope: Scope, readInner: ReadInner): void {
  for (const child of Object.values(node) as unknown[]) {
    if (child === null || typeof child !== 'object' || !('type' in child)) continue;
    if (child.type === 'Word') readWord(child as Word, scope, readInner);
    else readInside(child, scope, readInner);
  }
}

/** In arithmetic, `$(…)` runs, and so does an index of an array. */
export function readArithmetic(expression: object | undefined, readInner: ReadInner): void {
  if (expression === undefined) return;
  for (const child of Object.values(expression) as unknown[]) {
    if (Array.isArray(child)) for (const each of child) readArithmetic(each as object, readInner);
    else if (child !== null && typeof child === 'object') readArithmetic(child, readInner);
  }
  if ('script' in expression) {
    readInner((expression as { script?: ParsedScript }).script, String(Reflect.get(expression, 'text')));
  }
}
