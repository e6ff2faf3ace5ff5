import type { Scope } from './reading.ts';

const deepest = 8;
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
