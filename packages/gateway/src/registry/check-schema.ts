import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '@sallyport/contract';
import type { Violation } from '../model/refusal.ts';
import { countValues } from './count-values.ts';
import { nearestNames } from './nearest-names.ts';

const mostViolations = 50;
const mostValuesListed = 10_000;
const longestField = 200;

export type Subject = 'arguments' | 'result';

/** Checks values against one schema. Compiled at first use: most tools are never called in a run. */
export class SchemaCheck {
  readonly #schema: JsonObject;
  readonly #subject: Subject;
  #validate: ValidateFunction | undefined;
  #listAll: ValidateFunction | undefined;

  constructor(schema: JsonObject, subject: Subject) {
    this.#schema = schema;
    this.#subject = subject;
  }

  /**
   * Fills in defaults, in place, and returns the violations; none means that the value fits. All of them, unless the
   * value is so large that listing them could hold up everyone else: then the first one.
   */
  check(value: Json): readonly Violation[] {
    let validate = this.compile();
    if (validate(value)) return [];
    if (countValues(value, mostValuesListed) < mostValuesListed) {
      validate = this.#listAll ??= this.#compile({ allErrors: true });
      validate(value);
    }
    const errors = (validate.errors ?? []).filter((error) => error.keyword !== 'if');
    return errors.slice(0, mostViolations).map((error) => describeError(error, this.#subject));
  }

  /** Costs milliseconds the first time. */
  compile(): ValidateFunction {
    this.#validate ??= this.#compile({ allErrors: false });
    return this.#validate;
  }

  #compile(options: { readonly allErrors: boolean }): ValidateFunction {
    // A fresh instance a schema: nothing that one schema declares can reach another. Formats are remarks to readers.
    return new Ajv2020({
      ...options,
      // The schemas are our own and a test holds them against the meta-schema; compiling that one costs 17 ms each time.
      meta: false,
      validateSchema: false,
      useDefaults: true,
      strict: false,
      validateFormats: false,
      verbose: true,
      ownProperties: true,
    }).compile(this.#schema);
  }
}

function describeError(error: ErrorObject, subject: Subject): Violation {
  const path = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  // Callers choose the names in it.
  const field = path.slice(0, longestField).toWellFormed();
  const at = (name: string): string => (field === '' ? name : `${field}.${name}`);
  const named = field || `the ${subject}`;
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params['missingProperty']);
      return { field: at(name), rule: 'required', message: `${at(name)} is required` };
    }
    case 'additionalProperties': {
      const name = String(error.params['additionalProperty']).slice(0, 100).toWellFormed();
      const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
      const [nearest] = nearestNames(name, known, 1);
      const others = known.length === 0 ? 'there are none' : `use ${known.join(', ')}`;
      const advice = nearest === undefined ? others : `did you mean ${at(nearest)}?`;
      const what = subject === 'arguments' ? 'an argument' : 'in the schema';
      return { field: at(name), rule: 'unknown', message: `${at(name)} is not ${what}; ${advice}` };
    }
    case 'type':
      return { field, rule: 'type', message: `${named} must be ${String(error.params['type'])}` };
    case 'enum': {
      const allowed = (error.params['allowedValues'] as Json[]).map((value) => JSON.stringify(value)).join(', ');
      return { field, rule: 'enum', message: `${named} must be one of ${allowed}` };
    }
    default:
      return { field, rule: ruleName(error.keyword), message: `${named} ${error.message ?? 'does not fit'}` };
  }
}

/** `maxLength` → `max_length`: rule names look the same on every door. */
function ruleName(keyword: string): string {
  return keyword.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
