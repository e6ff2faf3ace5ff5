import { ProtocolError, ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/server';
import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';
import { isJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type { ShownDefinition } from '../../../registry/shown-definitions.ts';
import { passedTags } from '../../../upstreams/pass-through.ts';
import { callerOf } from '../caller.ts';
import type { PassParts } from './pass-resources.ts';
import { invalidAnswer, outputOf, refusePassed, submitPassed } from './submit-passed.ts';
import type { PassedRequest } from './submit-passed.ts';

/** The prompts that were accepted and that the session may ask for, as they were accepted. No server is asked. */
export function listPrompts({ tools }: PassParts, { context }: PassedRequest): readonly Prompt[] {
  const { session } = callerOf(context);
  return tools.passed(session, Date.now(), passedTags.prompt).map(describePrompt);
}

function describePrompt({ name, description, inputSchema }: ShownDefinition): Prompt {
  const { properties = {}, required = [] } = inputSchema;
  const args = isJsonObject(properties) ? Object.entries(properties) : [];
  return {
    name: name.replaceAll('.', '_'),
    title: name,
    description,
    arguments: args.map(([argument, schema]) => ({
      name: argument,
      ...describeArgument(schema),
      required: Array.isArray(required) && required.includes(argument),
    })),
  };
}

function describeArgument(schema: Json): { readonly description?: string } {
  const about = isJsonObject(schema) ? schema['description'] : undefined;
  return typeof about === 'string' ? { description: about } : {};
}

/** The messages of a prompt, by a governed call. */
export async function getPrompt(
  parts: PassParts,
  asked: PassedRequest,
  {
    name,
    arguments: args = {},
  }: { readonly name: string; readonly arguments?: Readonly<Record<string, string>> | undefined },
): Promise<GetPromptResult> {
  const tool = parts.tools.canonicalName(name);
  // Other tools are called, so that nobody has to look for calls in two places.
  if (!parts.tools.isPassed(tool, passedTags.prompt)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such prompt. prompts/list shows them.');
  }
  const answer = await submitPassed(parts, asked, { tool, args: { ...args }, waits: true });
  if (answer.problem !== undefined) throw refusePassed(answer.problem, parts);
  const read = specTypeSchemas.GetPromptResult['~standard'].validate(outputOf(answer));
  if (read.issues !== undefined) throw invalidAnswer('a prompt');
  const { description, messages } = read.value;
  return { messages, ...(description === undefined ? {} : { description }) };
}
