import type { JsonSchemaType, JsonSchemaValidator, JsonSchemaValidatorResult } from '@modelcontextprotocol/server';
import type { Json } from '@sallyport/contract';
import { SchemaCheck } from '../../registry/schemas/check-schema.ts';
import { ForeignSchemaError, parseForeignSchema } from '../../registry/schemas/parse-foreign-schema.ts';

/**
 * Stands in for the validator that the SDK would bring: that one dies of `$async`, mixes up schemas of the same `$id`
 * and hangs on bad patterns. A schema that the gate would not take from a tool fits no value.
 */
export const schemaValidator = {
  getValidator: <T>(schema: JsonSchemaType): JsonSchemaValidator<T> => {
    const check = prepare(schema as Json);
    if (check instanceof ForeignSchemaError) return () => invalid(check.message);
    return (input) => {
      // Checking fills in defaults, in place.
      const value = structuredClone(input) as Json;
      const violations = check.check(value);
      if (violations.length > 0) return invalid(violations.map(({ message }) => message).join('; '));
      return { valid: true, data: value as T, errorMessage: undefined };
    };
  },
};

function prepare(schema: Json): SchemaCheck | ForeignSchemaError {
  try {
    return new SchemaCheck(parseForeignSchema(schema), 'result', { isForeign: true });
  } catch (error) {
    if (error instanceof ForeignSchemaError) return error;
    throw error;
  }
}

function invalid(errorMessage: string): JsonSchemaValidatorResult<never> {
  return { valid: false, data: undefined, errorMessage };
}
