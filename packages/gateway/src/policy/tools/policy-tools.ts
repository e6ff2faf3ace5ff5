import { PolicyCheckSchema, PolicyStatusSchema, spellCount } from '@sallyport/contract';
import { ConfigError } from '../../call/fault.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { isOnlyName } from '../../registry/registry.ts';
import { findUnread } from '../files/find-unread.ts';
import { shadowTool } from '../replay/count-shadow.ts';
import { replayTool } from '../replay/replay-calls.ts';
import { testTool } from '../replay/test-cases.ts';
import { allowTool, draftTool } from './allow-call.ts';
import { applyTool, initTool, promoteTool } from './change-rules.ts';
import { explainTool } from './explain-call.ts';
import { listTool } from './list-rules.ts';
import { suggestTool } from './suggest-rules.ts';
import { chooseRules, longTimeoutMs, rulesProperty } from './policy-parts.ts';
import type { PolicyToolParts } from './policy-parts.ts';

/** Understanding and changing the rules. What is in force changes by `policy.apply`, `policy.promote` and `policy.allow` alone. */
export function policyTools(parts: PolicyToolParts): readonly AnyTool[] {
  const tools = [
    statusTool(parts),
    listTool(parts),
    checkTool(parts),
    explainTool(parts),
    testTool(parts),
    replayTool(parts),
    shadowTool(parts),
    applyTool(parts),
    promoteTool(parts),
    initTool(parts),
    draftTool(parts),
    allowTool(parts),
    suggestTool(parts),
  ];
  return tools.map(tellMistakes);
}

function statusTool({ rules }: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.status',
    description: 'Shows which rules are in force, and whether the files have changed since.',
    mutates: false,
    answers: PolicyStatusSchema,
    run: () => {
      const { folder: appliedFolder, count, tried } = rules.current;
      return { problem: '', ...rules.inspect(), appliedFolder, count, tried: tried.length };
    },
    summarize: (_args, { files, hash }) => `${hash} is in force, the files are ${files}`,
  });
}

function checkTool({ rules, registry }: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.check',
    description: 'Finds rules that never match, are covered by others, or reach no tool.',
    mutates: false,
    timeoutMs: longTimeoutMs,
    properties: { rules: rulesProperty },
    answers: PolicyCheckSchema,
    run: (args) => {
      const { hash, count, check } = chooseRules(rules, args);
      const tools = registry.all.filter((tool) => !isOnlyName(tool)).map(({ definition }) => definition);
      return { hash, count, findings: [...check(tools), ...findUnread(rules.inspect().folder)] };
    },
    summarize: (_args, { findings }) => spellCount(findings.length, 'finding'),
  });
}

/** What is wrong with the files is for the operator to read. */
function tellMistakes(tool: AnyTool): AnyTool {
  const telling = async <Value>(work: () => Value | Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { message, remedy } = error;
      const options = { cause: error, ...(remedy === undefined ? {} : { forOperators: remedy }) };
      throw new ToolFailure('EXECUTION_ERROR', message, options);
    }
  };
  return {
    ...tool,
    preview: (args, context) => telling(() => tool.preview(args, context)),
    run: (args, context) => telling(() => tool.run(args, context)),
  };
}
