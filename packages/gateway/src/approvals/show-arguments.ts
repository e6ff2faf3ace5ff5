import type { Json } from '@sallyport/contract';
import type { ArgumentsChecked, Resolved } from '../model/call.ts';

/** The arguments of a call as JSON, without secrets, as a person who decides may see them and a store may keep them. */
export function showArguments(
  { tool, arguments: { value } }: Resolved & Pick<ArgumentsChecked, 'arguments'>,
  redactor: { readonly redactJson: (value: Json) => Json },
): string {
  const { secretArguments = [] } = tool.definition;
  const open = Object.entries(value).filter(([member]) => !secretArguments.includes(member));
  return JSON.stringify(redactor.redactJson(Object.fromEntries(open)));
}
