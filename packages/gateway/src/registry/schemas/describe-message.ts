import { ScalarType } from '@bufbuild/protobuf';
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import type { JsonObject } from '@sallyport/contract';

/** The schema of a message in JSON, as `InJson` has it: no field is missing, and none that the contract does not have. */
export function describeMessage({ fields }: Pick<DescMessage, 'fields'>): JsonObject {
  return {
    type: 'object',
    additionalProperties: false,
    required: fields.filter(isAlwaysThere).map(({ jsonName }) => jsonName),
    properties: Object.fromEntries(fields.map((field) => [field.jsonName, describeField(field)])),
  };
}

function isAlwaysThere({ fieldKind, presence }: DescField): boolean {
  return fieldKind === 'list' || fieldKind === 'map' || presence === FeatureSet_FieldPresence.IMPLICIT;
}

function describeField(field: DescField): JsonObject {
  if (field.fieldKind === 'map') return { type: 'object' };
  const item = field.message === undefined ? describeScalar(field.scalar) : describeMessage(field.message);
  return field.fieldKind === 'list' ? { type: 'array', items: item } : item;
}

function describeScalar(type: ScalarType | undefined): JsonObject {
  switch (type) {
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return { type: 'integer' };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: 'number' };
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return { type: 'string', pattern: '^-?[0-9]+$' };
    // Bytes are text in base64, and values of an enum are names.
    default:
      return { type: 'string' };
  }
}
