import { confirmations, risks } from '../call/tool.ts';
import type { ToolDefinition } from '../call/tool.ts';
import { defineForeignTool } from '../registry/define-foreign-tool.ts';
import type { Pipeline, PipelineStep } from './pipeline.ts';
import { referencesIn } from './template.ts';

/** Undefined: there is no such tool, at present. */
export type FindDefinition = (name: string) => ToolDefinition | undefined;

/**
 * A pipeline has the highest risk of its steps, and an unknown tool has high risk. That informs people; it changes
 * nothing for the steps, because each of them is judged by itself.
 */
export function definePipeline({ description, steps, assigned }: Pipeline, find: FindDefinition): ToolDefinition {
  const tools = steps.map(({ tool }) => find(tool));
  const inputs = Object.keys((description.inputSchema['properties'] as object | undefined) ?? {});
  const secrets = steps.flatMap((step, at) => findSecretInputs(step, tools[at]?.secretArguments ?? [], inputs));
  return {
    ...defineForeignTool(description, 'pipeline', {
      assigned: {
        ...assigned,
        risk: highest(risks, [assigned.risk ?? 'low', ...tools.map((tool) => tool?.risk ?? 'high')]),
        confirmation: highest(confirmations, [assigned.confirmation ?? 'never', 'if_destructive']),
        mutates: tools.some((tool) => tool?.mutates ?? true),
        idempotent: false,
      },
    }),
    // It starts no program itself.
    requiresSandbox: false,
    // The result of a tool for operators, such as a token, is never kept; nor is it when a pipeline returns it.
    audience: tools.some((tool) => tool !== undefined && tool.audience !== 'everyone') ? 'operator' : 'everyone',
    ...(secrets.length === 0 ? {} : { secretArguments: [...new Set(secrets)] }),
  };
}

/** Inputs that go into a secret argument of a step are secret too. */
function findSecretInputs(
  { arguments: template }: PipelineStep,
  secretArguments: readonly string[],
  inputs: readonly string[],
): readonly string[] {
  if (template.kind !== 'object') return [];
  return template.members
    .filter(([name]) => secretArguments.includes(name))
    .flatMap(([, value]) => referencesIn(value))
    .filter(({ step }) => step === undefined)
    .flatMap(({ path: [first] }) => first ?? inputs);
}

function highest<T>(order: readonly T[], found: readonly T[]): T {
  return found.reduce((most, each) => (order.indexOf(each) > order.indexOf(most) ? each : most));
}
