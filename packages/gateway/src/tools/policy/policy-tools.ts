import type { Json, JsonObject } from '@sallyport/contract';
import type { AppliedRules } from '../../governance/applied-rules.ts';
import type { Explained } from '../../governance/explain-question.ts';
import type { Finding } from '../../governance/check-rules.ts';
import type { LoadedRules } from '../../governance/load-rules.ts';
import { ConfigError } from '../../model/fault.ts';
import type { RuleReference } from '../../model/refusal.ts';
import { principals } from '../../governance/rule.ts';
import { modes } from '../../model/session.ts';
import type { Mode, Principal, Session } from '../../model/session.ts';
import { ToolFailure } from '../../model/tool.ts';
import type { AnyTool, Tool } from '../../model/tool.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Store } from '../../storage/stores.ts';
import { defineAdministration } from '../administration.ts';
import { replayRecords } from './replay-records.ts';
import type { ChangedCall } from './replay-records.ts';

export interface PolicyToolParts {
  readonly rules: AppliedRules;
  readonly registry: Registry;
  readonly store: Pick<Store, 'logSize' | 'readRecords' | 'readMode'>;
  readonly workspace: string;
  /** Hears that other rules are in force. */
  readonly onApplied: () => void;
}

interface ExplainArguments {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly agent: string;
  readonly principal: Principal;
  readonly mode?: Mode;
  readonly rules: 'applied' | 'files';
}

const anyObject: JsonObject = { type: 'object' };
const mostReplayed = 100_000;
const mostShown = 200;
const pageRecords = 1000;
const rulesProperty: JsonObject = {
  type: 'string',
  enum: ['applied', 'files'],
  default: 'applied',
  description: 'The rules in force, or the files as they are now.',
};

/** Understanding and changing the rules. Nothing changes what is in force but `policy.apply`. */
export function policyTools(parts: PolicyToolParts): readonly AnyTool[] {
  return [statusTool(parts), checkTool(parts), explainTool(parts), replayTool(parts), applyTool(parts)] as AnyTool[];
}

function statusTool({ rules }: PolicyToolParts): Tool<JsonObject> {
  return readingTool(
    'policy.status',
    'Shows which rules are in force, and whether the files say something else.',
    {},
    () => {
      const { hash, files, problem } = rules.inspect();
      const { folder, count } = rules.current;
      return { hash, folder, count, files, ...(problem === undefined ? {} : { problem }) };
    },
  );
}

function checkTool({ rules, registry }: PolicyToolParts): Tool<JsonObject> {
  const properties = { rules: rulesProperty };
  const description = 'Finds rules that never match, are covered by others, or reach no tool.';
  return readingTool('policy.check', description, properties, (args) => {
    const chosen = choose(rules, args['rules']);
    const findings = chosen.check(registry.all.map(({ definition }) => definition));
    return { hash: chosen.hash, count: chosen.count, findings: findings.map(describeFinding) };
  });
}

function explainTool({ rules, registry, store, workspace }: PolicyToolParts): Tool<JsonObject> {
  const properties: Record<string, JsonObject> = {
    tool: { type: 'string', maxLength: 256, description: 'Name or alias of the tool.' },
    arguments: { type: 'object', default: {}, description: 'The arguments of the call.' },
    agent: { type: 'string', maxLength: 256, default: 'agent', description: 'Who would call.' },
    principal: { type: 'string', enum: [...principals], default: 'agent', description: 'What kind of caller it is.' },
    mode: { type: 'string', enum: [...modes], description: 'Absent: the present one.' },
    rules: rulesProperty,
  };
  const description = 'Says how a call would be decided, by which rule, and what every other rule has to do with it.';
  return readingTool('policy.explain', description, properties, (given) => {
    const args = given as unknown as ExplainArguments;
    const found = registry.find(args.tool);
    if (found === undefined) throw new ToolFailure('NOT_FOUND', `There is no tool named ${args.tool}.`);
    const wanted = structuredClone(args.arguments);
    const violations = found.input.check(wanted);
    if (violations.length > 0) {
      const message = violations.map((violation) => violation.message).join('; ');
      throw new ToolFailure('INVALID_ARGUMENTS', `The arguments do not fit ${args.tool}: ${message}.`);
    }
    const { definition } = found.tool;
    const resources = found.tool.claim(wanted, { workingDirectory: workspace } as Session);
    const { agent, principal, mode = store.readMode() } = args;
    const nowMs = Date.now();
    const question = { tool: definition, principal, agent, mode, resources, arguments: wanted, nowMs };
    const chosen = choose(rules, args.rules);
    const isModeFit = definition.allowedModes.includes(mode);
    return { hash: chosen.hash, mode, mode_allows: isModeFit, ...describeExplained(chosen.explain(question)) };
  });
}

function replayTool({ rules, registry, store, workspace }: PolicyToolParts): Tool<JsonObject> {
  const properties: Record<string, JsonObject> = {
    last: {
      type: 'integer',
      minimum: 1,
      maximum: mostReplayed,
      default: 10_000,
      description: 'How many of the newest records to look at.',
    },
  };
  const description = 'Decides recorded calls again by the files as they are now, and shows which would change.';
  return readingTool('policy.replay', description, properties, ({ last }) => {
    const size = store.logSize();
    const records = readPages(store, Math.max(0, size - Number(last)), size);
    const { decided, undecidable, changed } = replayRecords(records, rules.preview(), registry, workspace);
    return { decided, undecidable, changed: changed.length, calls: changed.slice(-mostShown).map(describeChange) };
  });
}

function applyTool({ rules, onApplied }: PolicyToolParts): Tool<JsonObject> {
  return {
    definition: {
      ...defineAdministration({
        name: 'policy.apply',
        description: 'Puts the rule files in force as they are now. Files that are not valid change nothing.',
        mutates: true,
        idempotent: true,
        inputSchema: { type: 'object', additionalProperties: false, properties: {} },
        outputSchema: anyObject,
      }),
    },
    claim: () => ({ paths: [] }),
    preview: () => {
      const next = withConfigErrors(() => rules.preview());
      const detail = `in force: ${rules.current.count} rules, ${rules.current.hash}\nfiles: ${next.count} rules, ${next.hash}\n`;
      return Promise.resolve({ summary: `Apply the rules in ${next.folder}.`, detail, undoable: false });
    },
    run: () => {
      const before = rules.current.hash;
      const { hash, count, folder } = withConfigErrors(() => rules.apply());
      if (hash !== before) onApplied();
      return Promise.resolve({ hash, before, count, folder, changed: hash !== before });
    },
    summarize: (_args, output) => `applied ${(output as { readonly hash: string }).hash}`,
  };
}

function readingTool(
  name: string,
  description: string,
  properties: Readonly<Record<string, JsonObject>>,
  run: (args: JsonObject) => Json,
): Tool<JsonObject> {
  const required = name === 'policy.explain' ? ['tool'] : [];
  return {
    definition: defineAdministration({
      ...{ name, description, mutates: false, idempotent: true },
      inputSchema: { type: 'object', additionalProperties: false, required, properties },
      outputSchema: anyObject,
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: description, detail: '', undoable: true }),
    run: (args) => Promise.resolve(withConfigErrors(() => run(args))),
    summarize: () => name,
  };
}

function choose(rules: AppliedRules, which: Json | undefined): LoadedRules {
  return which === 'files' ? rules.preview() : rules.current;
}

/** What is wrong with the files is for the operator to read. */
function withConfigErrors<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ToolFailure('EXECUTION_ERROR', [error.message, error.remedy ?? ''].join('\n').trim(), { cause: error });
  }
}

function* readPages(store: Pick<Store, 'readRecords'>, from: number, to: number) {
  for (let at = from; at < to; at += pageRecords) yield* store.readRecords(at, Math.min(pageRecords, to - at));
}

function describeRule({ id, file, line }: RuleReference): JsonObject {
  return { rule_id: id, ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
}

function describeExplained({ verdict, considered }: Explained): JsonObject {
  const { effect, rule, reason, remedy, code, shadow } = verdict;
  return {
    effect,
    ...describeRule(rule),
    reason,
    ...(code === undefined ? {} : { code }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(shadow === undefined ? {} : { shadow: { effect: shadow.effect, ...describeRule(shadow.rule) } }),
    considered: considered.map((each) => ({
      ...describeRule(each.rule),
      effect: each.effect,
      matches: each.mismatch === undefined,
      decides: each.decides,
      ...(each.shadow ? { shadow: true } : {}),
      ...(each.mismatch === undefined ? {} : { why: each.mismatch }),
    })),
  };
}

function describeFinding({ kind, rule, tool, message }: Finding): JsonObject {
  return {
    kind,
    message,
    ...(rule === undefined ? {} : describeRule(rule)),
    ...(tool === undefined ? {} : { tool }),
  };
}

function describeChange({ index, tool, agent, was, would }: ChangedCall): JsonObject {
  const { effect, ruleId, reason } = would;
  return { index, tool, agent, was: was.effect, was_rule: was.ruleId, would: effect, would_rule: ruleId, reason };
}
