import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '@sallyport/contract';
import type { Violation } from '../model/refusal.ts';
import { nearestNames } from './nearest-names.ts';

const mostViolations = 50;

/** Checks values against one schema. Compiled at first use: most tools are never called in a run. */
export class SchemaCheck {
  readonly #schema: JsonObject;
  #validate: ValidateFunction | undefined;

  constructor(schema: JsonObject) {
    this.#schema = schema;
  }

  /** Fills in defaults, in place, and returns every violation; none means that the value fits. */
  check(value: Json): readonly Violation[] {
    const validate = this.compile();
    if (validate(value)) return [];
    const errors = (validate.errors ?? []).filter((error) => error.keyword !== 'if');
    return errors.slice(0, mostViolations).map((error) => describeError(error));
  }

  /** Costs milliseconds the first time. */
  compile(): ValidateFunction {
    // A fresh instance a schema: nothing that one schema declares can reach another.
    this.#validate ??= new Ajv2020({
      allErrors: true,
      useDefaults: true,
      strict: false,
      verbose: true,
      ownProperties: true,
    }).compile(this.#schema);
    return this.#validate;
  }
}

function describeError(error: ErrorObject): Violation {
  const field = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const at = (name: string): string => (field === '' ? name : `${field}.${name}`);
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params['missingProperty']);
      return { field: at(name), rule: 'required', message: `${at(name)} is required` };
    }
    case 'additionalProperties': {
      const name = String(error.params['additionalProperty']).slice(0, 100);
      const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
      const [nearest] = nearestNames(name, known, 1);
      const advice = nearest === undefined ? `use ${known.join(', ')}` : `did you mean ${at(nearest)}?`;
      return { field: at(name), rule: 'unknown', message: `${at(name)} is not an argument; ${advice}` };
    }
    case 'type':
      return { field, rule: 'type', message: `${field || 'the arguments'} must be ${String(error.params['type'])}` };
    case 'enum': {
      const allowed = (error.params['allowedValues'] as Json[]).map((value) => JSON.stringify(value)).join(', ');
      return { field, rule: 'enum', message: `${field} must be one of ${allowed}` };
    }
    case 'maxLength':
    case 'minLength':
      return { field, rule: ruleName(error.keyword), message: `${field} ${error.message ?? 'has a wrong length'}` };
    default:
      return {
        field,
        rule: ruleName(error.keyword),
        message: `${field || 'the arguments'} ${error.message ?? 'do not fit'}`,
      };
  }
}

/** `maxLength` → `max_length`: rule names look the same on every door. */
function ruleName(keyword: string): string {
  return keyword.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
