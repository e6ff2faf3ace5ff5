/** One step of a pattern: characters it accepts, so many of them. */
interface Step {
  readonly accepts: RegExp;
  readonly least: number;
  readonly most: number;
}

export interface Proof {
  /** Steps that text could share with what follows them, so that an engine would try several ways. None is proof. */
  readonly ambiguous: readonly string[];
  /** The most characters that may be looked at in vain. */
  readonly looked: number;
  /** Where long runs stand that can be looked at in vain, all they accept. */
  readonly longRuns: readonly RegExp[];
}

const characters = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).concat('é', '…');
const quantifier = /^(?:\{(\d+)(?:,(\d+))?\}|(\?))/;

/**
 * Reads a pattern of the plain form that credentials need: characters and classes, each so many times, one group around
 * the secret, alternatives of plain words, and a look ahead at the end. Throws for anything else.
 */
export function provePattern(pattern: string): Proof {
  const { steps, looksAhead } = readSteps(pattern);
  const ambiguous: string[] = [];
  for (const [at, step] of steps.entries()) {
    if (step.least === step.most) continue;
    for (const next of followers(steps, at)) {
      const shared = characters.find((character) => step.accepts.test(character) && next.accepts.test(character));
      if (shared !== undefined) ambiguous.push(`${step.accepts.source} and ${next.accepts.source}`);
    }
  }
  const last = steps.at(-1);
  const looked = steps.reduce((sum, step) => sum + (step === last && !looksAhead ? step.least : step.most), 0);
  const longRuns = steps.slice(0, looksAhead ? undefined : -1).filter(({ most }) => most > 300);
  return { ambiguous, looked, longRuns: longRuns.map(({ accepts }) => accepts) };
}

/** The steps that may come directly after one: up to the first that cannot be empty. */
function followers(steps: readonly Step[], at: number): readonly Step[] {
  const first = steps.findIndex((step, index) => index > at && step.least > 0);
  return steps.slice(at + 1, first === -1 ? undefined : first + 1);
}

function readSteps(pattern: string): { steps: Step[]; looksAhead: boolean } {
  const steps: Step[] = [];
  let rest = pattern
    .replace('(?<secret>', '')
    .replace('(?:[A-Za-z0-9+/=\\s\\\\:,.]|-(?!-))', '[A-Za-z0-9+/=\\s\\\\:,.-]');
  const isGrouped = pattern.includes('(?<secret>');
  while (rest !== '') {
    if (/^\(\?[=!](?:\[[^\]]+\]|[@<]\/?)\)$/.test(rest)) return { steps, looksAhead: true };
    // The end of the group around the secret, which nothing but a look ahead follows.
    if (isGrouped && /^\)(?:\(\?[=!]|$)/.test(rest)) {
      rest = rest.slice(1);
      continue;
    }
    const words = /^\(\?:((?:[\w\\"'-]+\|)+[\w\\"'-]+)\)/.exec(rest);
    const [taken, body] = words === null ? readOne(rest) : [words[0], firstsOf(words[1] ?? '')];
    rest = rest.slice(taken.length);
    const [counted = '', least = '1', most = least, optional] = quantifier.exec(rest) ?? [];
    if (words !== null && counted !== '') throw new Error(`words that repeat: ${pattern}`);
    rest = rest.slice(counted.length);
    steps.push({ accepts: new RegExp(`^(?:${body})$`), least: optional ? 0 : Number(least), most: Number(most) });
  }
  return { steps, looksAhead: false };
}

function readOne(rest: string): [taken: string, body: string] {
  const one = /^(?:\[(?:\\.|[^\]\\])+\]|\\.|[^\\()[\]{}*+?|^$.])/.exec(rest)?.[0];
  if (one === undefined) throw new Error(`not of the plain form: ${rest}`);
  return [one, one];
}

function firstsOf(words: string): string {
  return words
    .split('|')
    .map((text) => (text.startsWith('\\') ? text.slice(0, 2) : text.slice(0, 1)))
    .join('|');
}
