import { create } from '@bufbuild/protobuf';
import { compileRules } from './compile-rules.ts';
import type { Check } from './compile-rules.ts';
import { ToolRequestSchema, ValidationErrorSchema } from './gen/sallyport/v1/tool_protocol_pb.ts';
import type { ToolRequest, ValidationError } from './gen/sallyport/v1/tool_protocol_pb.ts';

let check: Check | undefined;

/**
 * Everything that is wrong with the form of a request, at once; empty when it is valid. Says nothing about whether the
 * request is allowed. No message holds a value of the request.
 */
export function validateToolRequest(request: ToolRequest): ValidationError[] {
  check ??= compileRules(ToolRequestSchema);
  const violations: ValidationError[] = [];
  check(request, '', (field, rule, message) => {
    violations.push(create(ValidationErrorSchema, { field, rule, message }));
  });
  return violations;
}
