import type { JsonObject } from '@sallyport/contract';
import type { Finding } from '../language/check-rules.ts';
import type { Tool } from '../../call/tool.ts';
import { chooseRules, defineReading, describeRule, rulesProperty } from './policy-parts.ts';
import type { PolicyToolParts } from './policy-parts.ts';

export function statusTool({ rules }: PolicyToolParts): Tool<JsonObject> {
  return defineReading({
    name: 'policy.status',
    description: 'Shows which rules are in force, and whether the files say something else.',
    properties: {},
    run: () => {
      const { hash, folder, files, problem } = rules.inspect();
      const { folder: appliedFolder, count, tried } = rules.current;
      return {
        ...{ hash, folder, count, tried: tried.length, files },
        ...(appliedFolder === folder ? {} : { applied_folder: appliedFolder }),
        ...(problem === undefined ? {} : { problem }),
      };
    },
  });
}

export function checkTool({ rules, registry }: PolicyToolParts): Tool<JsonObject> {
  return defineReading({
    name: 'policy.check',
    description: 'Finds rules that never match, are covered by others, or reach no tool.',
    properties: { rules: rulesProperty },
    run: (args) => {
      const chosen = chooseRules(rules, args['rules']);
      const findings = chosen.check(registry.all.map(({ definition }) => definition));
      return { hash: chosen.hash, count: chosen.count, findings: findings.map(describeFinding) };
    },
  });
}

function describeFinding({ kind, rule, tool, message }: Finding): JsonObject {
  return {
    kind,
    message,
    ...(rule === undefined ? {} : describeRule(rule)),
    ...(tool === undefined ? {} : { tool }),
  };
}
