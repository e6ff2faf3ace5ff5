import type { ErrorObject } from 'ajv/dist/2020.js';
import { hasHiddenTextOrLines, spellCount, wholeText } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type { Violation } from '../../call/refusal.ts';
import { nearestNames } from '../../text/nearest-names.ts';

const longestField = 200;
const mostListed = 50;

export type Subject = 'arguments' | 'result';

/** One sentence about what does not fit. Names in it are whole or given by their length, and harmless: callers and tools chose them. */
export function describeViolation(error: ErrorObject, subject: Subject): Violation {
  const path = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const field = showName(path);
  const at = (name: string): string => (field === '' ? name : `${field}.${name}`);
  const named = field || `the ${subject}`;
  switch (error.keyword) {
    case 'required': {
      const name = showName(String(error.params['missingProperty']));
      return { field: at(name), rule: 'required', message: `${at(name)} is required` };
    }
    case 'additionalProperties': {
      const name = showName(String(error.params['additionalProperty']));
      const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
      const [nearest] = nearestNames(name, known, 1);
      const others = known.length === 0 ? 'there are none' : `use ${listSome(known.map((each) => showName(each)))}`;
      const advice = nearest === undefined ? others : `perhaps you mean ${at(showName(nearest))}`;
      const what = subject === 'arguments' ? 'an argument' : 'in the schema';
      return { field: at(name), rule: 'unknown', message: `${at(name)} is not ${what}; ${advice}` };
    }
    case 'type':
      return { field, rule: 'type', message: `${named} must be ${String(error.params['type'])}` };
    case 'enum': {
      const allowed = (error.params['allowedValues'] as Json[]).slice(0, mostListed + 1).map(showValue);
      return { field, rule: 'enum', message: `${named} must be one of ${listSome(allowed)}` };
    }
    default: {
      const bound = describeBound(error);
      if (bound !== undefined) return { field, rule: ruleName(error.keyword), message: `${named} must ${bound}` };
      const message = makeHarmless(wholeText(error.message ?? '', longestField)) || 'does not fit';
      return { field, rule: ruleName(error.keyword), message: `${named} ${message}` };
    }
  }
}

/** Undefined: the rule is not about how long, how many or how much. */
function describeBound({ keyword, params }: ErrorObject): string | undefined {
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'minLength':
      return `have at least ${spellCount(limit, 'character')}`;
    case 'maxLength':
      return `have at most ${spellCount(limit, 'character')}`;
    case 'minItems':
      return `have at least ${spellCount(limit, 'entry', 'entries')}`;
    case 'maxItems':
      return `have at most ${spellCount(limit, 'entry', 'entries')}`;
    case 'minimum':
      return `be at least ${limit}`;
    case 'maximum':
      return `be at most ${limit}`;
    default:
      return undefined;
  }
}

function showName(name: string): string {
  return makeHarmless(wholeText(name));
}

function makeHarmless(text: string): string {
  const shown = text.toWellFormed();
  return hasHiddenTextOrLines(shown) ? JSON.stringify(shown) : shown;
}

function showValue(value: Json): string {
  return wholeText(JSON.stringify(value), longestField);
}

function listSome(names: readonly string[]): string {
  return names.length > mostListed ? `${names.slice(0, mostListed).join(', ')}, …` : names.join(', ');
}

/** `maxLength` → `max_length`: rule names look the same on every door. */
function ruleName(keyword: string): string {
  return keyword.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
