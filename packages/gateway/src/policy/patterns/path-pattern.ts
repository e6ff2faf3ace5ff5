import { pathVariables, spellAs } from '../judge/place-path.ts';
import type { PathVariable, PlacedPath, Spelling } from '../judge/place-path.ts';
import { matchesWildcard } from './wildcard.ts';

/** What is wrong with a pattern, for the person who wrote it. */
export class PathPatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PathPatternError';
  }
}

export type PathMatcher = (path: PlacedPath) => boolean;

interface Component {
  /** `affix` is a glob with one `*` and no `?`, which is nearly all of them. */
  readonly kind: 'literal' | 'affix' | 'glob' | 'any-depth';
  readonly text: string;
}

interface PathPattern {
  readonly start: 'root' | PathVariable;
  readonly components: readonly Component[];
}

const maxPatternLength = 1024;

/**
 * Patterns match component by component: `*` and `?` stay within one, `**` stands for any number of them, also none.
 * The matcher expects paths in the spelling given.
 */
export function compilePathPattern(text: string, spelling: Spelling = 'exact'): PathMatcher {
  const { start, components } = parsePathPattern(text);
  const spelled = components.map(({ kind, text: name }) => ({ kind, text: spellAs(spelling, name) }));
  const matches = compileComponents(spelled);
  return (path) => {
    const remainder = path[start];
    return remainder !== undefined && matches(remainder, path.name);
  };
}

/** What every path that a pattern covers has, for finding patterns without trying each. */
export interface PathClue {
  readonly start: PathPattern['start'];
  /** The plain folder that contains the path, or is the path. Empty: any below the start. */
  readonly folder: string;
  /** Text that one component of the path is, begins with or ends in. Absent: nothing more is known. */
  readonly part?: { readonly is: 'whole' | 'beginning' | 'ending'; readonly text: string };
}

/** Each of them holds for every path that the pattern covers. At least one. */
export function listPathClues(text: string, spelling: Spelling): readonly PathClue[] {
  const { start, components } = parsePathPattern(text);
  const firstGlob = components.findIndex(({ kind }) => kind !== 'literal');
  const literals = firstGlob < 0 ? components : components.slice(0, firstGlob);
  const folder = literals.map((component) => spellAs(spelling, component.text)).join('/');
  const parts = components.slice(literals.length).flatMap((component) => partsOf(component, spelling));
  return parts.length === 0 ? [{ start, folder }] : parts.map((part) => ({ start, folder, part }));
}

function partsOf({ kind, text }: Component, spelling: Spelling): readonly NonNullable<PathClue['part']>[] {
  if (kind === 'any-depth') return [];
  const spelled = spellAs(spelling, text);
  if (kind === 'literal') return [{ is: 'whole', text: spelled }];
  const [beginning = ''] = /^[^*?]*/.exec(spelled) ?? [];
  const [ending = ''] = /[^*?]*$/.exec(spelled) ?? [];
  const parts = [{ is: 'beginning', text: beginning } as const, { is: 'ending', text: ending } as const];
  return parts.filter((part) => part.text !== '');
}

/** Throws PathPatternError. What other globs would understand differently is refused: a rule must not guess. */
export function parsePathPattern(text: string): PathPattern {
  if (text.length > maxPatternLength) throw new PathPatternError(`is longer than ${maxPatternLength} characters`);
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) throw new PathPatternError('contains a control character');
  if (text.startsWith('~')) throw new PathPatternError('starts with "~"; write $HOME instead');
  const variable = /^\$(\w*)/.exec(text)?.[1];
  if (variable !== undefined && !isPathVariable(variable)) {
    throw new PathPatternError('starts with an unknown variable; only $HOME and $WORKSPACE are known');
  }
  const rest = variable === undefined ? text : text.slice(variable.length + 1);
  const start = variable ?? 'root';
  if (rest.includes('$')) throw new PathPatternError('has a "$" after its start; "?" stands for any one character');
  if (rest === (variable === undefined ? '/' : '')) return { start, components: [] };
  if (!rest.startsWith('/')) throw new PathPatternError('must start with "/", "$HOME/" or "$WORKSPACE/"');
  return { start, components: dropRepeatedDepths(rest.slice(1).split('/').map(parseComponent)) };
}

function parseComponent(text: string): Component {
  if (text === '') throw new PathPatternError('has an empty component ("//" or a "/" at the end)');
  if (text === '.' || text === '..') throw new PathPatternError(`has a "${text}" component; write the path it means`);
  if (text === '**') return { kind: 'any-depth', text };
  if (text.includes('**')) throw new PathPatternError('has "**" beside other text; it must stand alone');
  const unsupported = /[[\]{}\\]/.exec(text)?.[0];
  if (unsupported !== undefined) {
    throw new PathPatternError(`has a "${unsupported}"; only * ? and ** are special: write one pattern for each case`);
  }
  if (!/[*?]/.test(text)) return { kind: 'literal', text };
  return { kind: /^[^*?]*\*[^*?]*$/.test(text) ? 'affix' : 'glob', text };
}

function isPathVariable(name: string): name is PathVariable {
  return (pathVariables as readonly string[]).includes(name);
}

function dropRepeatedDepths(components: readonly Component[]): readonly Component[] {
  return components.filter(({ kind }, at) => kind !== 'any-depth' || components[at - 1]?.kind !== 'any-depth');
}

/** Matches what remains of a path below the start; `name` is the last component of it. */
type RemainderMatcher = (remainder: string, name: string) => boolean;

function compileComponents(components: readonly Component[]): RemainderMatcher {
  const firstGlob = components.findIndex(({ kind }) => kind !== 'literal');
  const literals = firstGlob < 0 ? components : components.slice(0, firstGlob);
  const folder = literals.map(({ text }) => text).join('/');
  if (firstGlob < 0) return (remainder) => remainder === folder;

  const rest = components.slice(firstGlob);
  if (folder === '') return compileGlobs(rest);
  const below = `${folder}/`;
  if (rest.length === 1 && rest[0]?.kind === 'any-depth') {
    return (remainder) => remainder.startsWith(below) || remainder === folder;
  }
  const [only, ...others] = rest;
  if (only !== undefined && others.length === 0) {
    const nameFits = compileComponent(only);
    const slash = below.length - 1;
    return (remainder, name) =>
      remainder.length - name.length === below.length &&
      nameFits(name) &&
      remainder.lastIndexOf('/') === slash &&
      remainder.startsWith(below);
  }
  return (remainder) => remainder.startsWith(below) && fitsFrom(rest, remainder, below.length);
}

/** The usual shapes need no walk over the components: any depth alone, before a name, before literals, around them. */
function compileGlobs(globs: readonly Component[]): RemainderMatcher {
  const walk: RemainderMatcher = (remainder) => fitsFrom(globs, remainder, 0);
  if (globs[0]?.kind !== 'any-depth') return walk;
  const [only, ...others] = globs.slice(1);
  if (only === undefined) return () => true;
  if (others.length === 0) {
    const nameFits = compileComponent(only);
    return (remainder, name) => remainder !== '' && nameFits(name);
  }
  const openEnded = others.at(-1)?.kind === 'any-depth';
  const middle = openEnded ? globs.slice(1, -1) : globs.slice(1);
  if (middle.some(({ kind }) => kind !== 'literal')) return walk;
  const text = middle.map((component) => component.text).join('/');
  const atEnd = `/${text}`;
  if (!openEnded) return (remainder) => remainder.endsWith(atEnd) || remainder === text;
  const inside = `/${text}/`;
  const atStart = `${text}/`;
  return (remainder) =>
    remainder.includes(inside) || remainder.startsWith(atStart) || remainder.endsWith(atEnd) || remainder === text;
}

function compileComponent({ kind, text }: Component): (name: string) => boolean {
  if (kind === 'literal') return (name) => name === text;
  if (kind === 'glob') return (name) => matchesWildcard(text, name);
  const [before = '', after = ''] = text.split('*');
  const shortest = before.length + after.length;
  return (name) => name.length >= shortest && name.endsWith(after) && name.startsWith(before);
}

/** Like `matchesWildcard`, one level up: only the last `**` is ever tried again. */
function fitsFrom(components: readonly Component[], path: string, start: number): boolean {
  let at = start;
  let next = 0;
  let lastDepth = -1;
  let retryFrom = start;
  // `at` is where a component starts; past the end of the path no component is left.
  while (at < path.length) {
    const component = components[next];
    if (component?.kind === 'any-depth') {
      if (next === components.length - 1) return true;
      lastDepth = next++;
      retryFrom = at;
      continue;
    }
    const end = endOfComponent(path, at);
    if (component !== undefined && fits(component, path, at, end)) {
      next++;
      at = end + 1;
    } else if (lastDepth >= 0) {
      next = lastDepth + 1;
      retryFrom = endOfComponent(path, retryFrom) + 1;
      at = retryFrom;
    } else {
      return false;
    }
  }
  if (components[next]?.kind === 'any-depth') next++;
  return next === components.length;
}

function endOfComponent(path: string, start: number): number {
  const slash = path.indexOf('/', start);
  return slash < 0 ? path.length : slash;
}

function fits(component: Component, path: string, start: number, end: number): boolean {
  const { kind, text } = component;
  if (kind !== 'literal') return matchesWildcard(text, path, start, end);
  return end - start === text.length && path.startsWith(text, start);
}
