import type { ParameterExpansionPart, ParsedScript, Word, WordPart } from 'unbash';
import { mayHoldCode, wordsOf } from './evaluated.ts';
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
  let isNumber = true;
  for (const [index, part] of parts.entries()) {
    const piece = readPart(part, scope, readInner, false);
    if (piece.isPattern === true) isPattern = true;
    isNumber &&= piece.isNumber === true || /^\d+$/.test(piece.value ?? '');
    const own = index === 0 && part.type === 'Literal' ? expandTilde(piece.value, part.text, scope) : piece.value;
    value = value === undefined || own === undefined ? undefined : value + own;
  }
  return { ...plain(text, value), ...(isPattern ? { isPattern } : {}), ...(isNumber ? { isNumber } : {}) };
}

function plain(text: string, value: string | undefined): ReadWord {
  return value === undefined ? { text } : { text, value };
}

interface Piece {
  readonly value?: string | undefined;
  readonly isPattern?: boolean;
  readonly isNumber?: boolean;
}

function readPart(part: WordPart, scope: Scope, readInner: ReadInner, isQuoted: boolean): Piece {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return { value: part.value };
    case 'DoubleQuoted':
    case 'LocaleString': {
      const pieces = part.parts.map((child) => readPart(child, scope, readInner, true));
      const isNumber = pieces.length > 0 && pieces.every((piece) => piece.isNumber === true);
      const values = pieces.map(({ value }) => value);
      return { value: values.includes(undefined) ? undefined : values.join(''), isNumber };
    }
    case 'SimpleExpansion': {
      const name = part.text.slice(1);
      return { value: expand(name, scope, isQuoted), isNumber: /^[#?$!]$/.test(name) || scope.isNumber(name) };
    }
    case 'ParameterExpansion': {
      readInside(part, scope, readInner);
      // `${x:=y}` sets it.
      if (part.operation?.type === 'Default' && part.operation.operator.endsWith('=')) scope.assigned(part.parameter);
      if (evaluates(part, scope)) scope.evaluatedInside.add(part.text);
      const isPlain = part.prefix === undefined && part.index === undefined && part.operation === undefined;
      return { value: isPlain ? expand(part.parameter, scope, isQuoted) : undefined, isNumber: part.prefix === '#' };
    }
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      readInner(part.script, part.text);
      return part.type === 'ProcessSubstitution' ? { value: '/dev/fd/63' } : {};
    case 'ArithmeticExpansion':
      readArithmetic(part.expression, readInner);
      if (wordsOf(part.expression).some((each) => mayHoldCode(each, scope))) scope.evaluatedInside.add(part.text);
      return { isNumber: true };
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      // To zsh, `*(e:…:)` is code.
      if (part.type === 'ExtendedGlob') scope.evaluatedInside.add(part.text);
      for (const child of part.parts ?? []) readPart(child, scope, readInner, isQuoted);
      return { value: part.text, isPattern: true };
  }
}

/** Whether the shell may run what it finds in a value: in an index, as a prompt, as a name, in a form of another shell. */
function evaluates({ prefix, index, operation }: ParameterExpansionPart, scope: Scope): boolean {
  if (index !== undefined && !/^[@*]$/.test(index.text) && mayHoldCode(index.text, scope)) return true;
  if (prefix === '!' && operation?.type !== 'Names' && index === undefined) return true;
  switch (operation?.type) {
    case 'Slice':
      return [operation.offset, operation.length].some((word) => word !== undefined && mayHoldCode(word.text, scope));
    case 'Transform':
      return operation.operand?.text !== 'Q' && operation.operand?.text !== 'L' && operation.operand?.text !== 'U';
    case 'Unknown':
      return true;
    default:
      return false;
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
