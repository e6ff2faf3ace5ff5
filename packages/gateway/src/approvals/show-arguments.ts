import type { Redactor } from '../redaction/redact.ts';
import type { ArgumentsChecked, Resolved } from '../call/call.ts';
import { encodeRedacted } from '../call/redacted.ts';
import type { Redacted } from '../call/redacted.ts';

/** The arguments of a call as JSON, without secrets, as a person who decides may see them and a store may keep them. */
export function showArguments(
  { tool, arguments: { value } }: Resolved & Pick<ArgumentsChecked, 'arguments'>,
  redactor: Pick<Redactor, 'redactJson'>,
): Redacted {
  const { secretArguments = [] } = tool.definition;
  const open = Object.entries(value).filter(([member]) => !secretArguments.includes(member));
  return encodeRedacted(redactor.redactJson(Object.fromEntries(open)));
}
