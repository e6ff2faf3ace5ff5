import type { ReadWord, Scope } from './reading.ts';

const deepest = 8;
/** Where a text has another command in it. */
export const hidden = /\$\(|`/;
const substitution = /\$\(|`|\$\{/;

/**
 * Whether a text can make the shell run something when it takes it for a number or for the name of a variable: there it
 * looks into values again, and runs the `$(…)` that it finds in them. What came out of a program, or from a file, may hold
 * anything.
 */
export function mayHoldCode(given: string, scope: Scope, depth = 0): boolean {
  const text = given.replace(/\$\{#[\w@*[\]]+\}/g, '0').replace(/\$\{(\w+)\}/g, '$1');
  if (substitution.test(text) || /\$[\d@*]/.test(text) || depth > deepest) return true;
  return [...text.matchAll(/\b[A-Za-z_]\w*/g)].some(([name]) => {
    if (scope.numbers.has(name)) return false;
    const value = scope.lookUp(name);
    if (value !== undefined) return mayHoldCode(value, scope, depth + 1);
    // What was never set comes from outside of the command, except in a function, where it is not known what was set.
    return scope.variables.has(name) || scope.isFunction;
  });
}

/** The texts of an arithmetic expression that the shell looks up. */
export function wordsOf(expression: object | null | undefined): readonly string[] {
  if (expression === null || expression === undefined) return [];
  const { type, value, text } = expression as { type?: unknown; value?: unknown; text?: unknown };
  if (type === 'ArithmeticWord') return [String(value)];
  if (type === 'ArithmeticCommandExpansion') return [String(text)];
  return Object.values(expression).flatMap((child: unknown) =>
    Array.isArray(child)
      ? child.flatMap((each) => wordsOf(each as object))
      : typeof child === 'object'
        ? wordsOf(child)
        : [],
  );
}

/** Commands of the shell that take words for names of variables or for numbers. */
export const evaluating = new Set([
  'test',
  '[',
  'let',
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'unset',
  'read',
  'printf',
]);
/** Comparisons of numbers, and questions about a variable. */
export const evaluatingTests = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge', '-v', '-R']);
export const declaring = new Set(['declare', 'typeset', 'local', 'export', 'readonly']);

export const isNumeric = ({ value, isNumber }: ReadWord): boolean => isNumber === true || /^-?\d+$/.test(value ?? '');

/** The words of a command of the shell that it takes for names of variables or for numbers, and that may hold code. */
export function findEvaluated(name: string, args: readonly ReadWord[], scope: Scope): readonly ReadWord[] {
  const unknown = args.filter((word) => word.value === undefined && !isNumeric(word));
  if (name === 'let') return args.filter(({ text }) => mayHoldCode(text, scope));
  if (name === 'read' || name === 'unset') return unknown;
  // A number, or another name for a variable: what is set later is looked into as well.
  if (declaring.has(name)) return args.filter(({ value = '' }) => /^[-+]\w*[in]/.test(value));
  if (name !== 'printf') return [];
  const [first, second] = args;
  if (first?.value === '-v') return unknown.filter((word) => word === second);
  return first?.value === undefined || /%[^a-zA-Z%]*n/.test(first.value)
    ? unknown.filter((word) => word !== first)
    : [];
}
