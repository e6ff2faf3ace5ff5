import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '@sallyport/contract';
import type { Violation } from '../../call/refusal.ts';
import { compileForeignSchema } from './compile-foreign-schema.ts';
import { createAjv } from './create-ajv.ts';
import { describeViolation } from './describe-violation.ts';
import type { Subject } from './describe-violation.ts';
import { TooMuchWork, WorkMeter } from './work-meter.ts';

export type { Subject } from './describe-violation.ts';

const mostViolations = 50;
const mostValuesListed = 10_000;

export interface SchemaSource {
  /** Somebody else wrote the schema, and `parseForeignSchema` let it through. Absent: it is our own. */
  readonly isForeign?: boolean;
}

/** Checks values against one schema. Compiled at first use: most tools are never called in a run. */
export class SchemaCheck {
  readonly #schema: JsonObject;
  readonly #subject: Subject;
  readonly #meter: WorkMeter | undefined;
  #validate: ValidateFunction | undefined;
  #listAll: ValidateFunction | undefined;

  constructor(schema: JsonObject, subject: Subject, { isForeign = false }: SchemaSource = {}) {
    this.#schema = schema;
    this.#subject = subject;
    this.#meter = isForeign ? new WorkMeter() : undefined;
  }

  /**
   * Fills in defaults, in place, and returns the violations; none means that the value fits. All of them, unless the
   * value is so large that listing them could hold up everyone else: then the first one.
   */
  check(value: Json): readonly Violation[] {
    if (this.#meter === undefined) return this.#findViolations(value);
    try {
      return this.#findViolations(value);
    } catch (error) {
      // Running out of stack is another way in which a schema can ask for too much.
      if (!(error instanceof TooMuchWork || error instanceof RangeError)) throw error;
      return [{ field: '', rule: 'work', message: `the ${this.#subject} cannot be checked: the schema asks too much` }];
    }
  }

  /** Costs milliseconds the first time. */
  compile(): ValidateFunction {
    this.#validate ??= this.#compile({ allErrors: false });
    return this.#validate;
  }

  #findViolations(value: Json): readonly Violation[] {
    const validate = this.compile();
    this.#meter?.begin(countValues(value, Infinity));
    if (validate(value)) return [];
    const first = validate.errors ?? [];
    const isSmall = countValues(value, mostValuesListed) < mostValuesListed;
    const errors = ((isSmall ? this.#listErrors(value) : undefined) ?? first).filter(({ keyword }) => keyword !== 'if');
    return errors.slice(0, mostViolations).map((error) => describeViolation(error, this.#subject));
  }

  /** Absent: listing all of them would take too long. */
  #listErrors(value: Json): readonly ErrorObject[] | undefined {
    const validate = (this.#listAll ??= this.#compile({ allErrors: true }));
    this.#meter?.begin(0);
    try {
      validate(value);
      return validate.errors ?? undefined;
    } catch (error) {
      if (error instanceof TooMuchWork) return undefined;
      throw error;
    }
  }

  #compile(options: { readonly allErrors: boolean }): ValidateFunction {
    if (this.#meter !== undefined) return compileForeignSchema(this.#schema, this.#meter, options);
    return createAjv(options).compile(this.#schema);
  }
}

/** How many values there are, at every depth; stops at `enough`, so that the work is bounded whatever the value. */
export function countValues(value: Json, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  const members: readonly Json[] = Array.isArray(value) ? value : Object.values(value as JsonObject);
  let count = 1 + members.length;
  for (const member of members) {
    if (count >= enough) return enough;
    count += countValues(member, enough - count + 1) - 1;
  }
  return Math.min(count, enough);
}
