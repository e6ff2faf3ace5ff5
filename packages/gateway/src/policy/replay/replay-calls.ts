import { join } from 'node:path';
import type { JsonObject } from '@sallyport/contract';
import type { AppliedRules } from '../language/applied-rules.ts';
import type { LoadedRules } from '../language/load-rules.ts';
import { ruleFileNames } from '../language/rule.ts';
import { maxFileBytes } from '../../text/source-file.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { Tool } from '../../call/tool.ts';
import { defineReading } from '../tools/policy-parts.ts';
import type { PolicyToolParts } from '../tools/policy-parts.ts';
import { Replay } from './replay-records.ts';
import type { ChangedCall } from './replay-records.ts';
import { chooseSpan, describeSpan, spanProperties, walkRecords } from './walk-records.ts';

const usualRecords = 10_000;
const mostShown = 200;

const filesProperty: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['folder', 'files'],
  description: 'The text of rule files in place of those of the gate, which may not reach them where they lie.',
  properties: {
    folder: { type: 'string', maxLength: 4096, description: 'Where they lie, for messages about them.' },
    files: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(
        ruleFileNames.map((name) => [name, { type: 'string', maxLength: maxFileBytes } as const]),
      ),
    },
  },
};

export function replayTool(parts: PolicyToolParts): Tool<JsonObject> {
  const { rules, registry, store, workspace, workspaceOf } = parts;
  return defineReading({
    name: 'policy.replay',
    description:
      'Decides recorded calls again, by the rule files as they are now, by others, or with a rule in force that is only tried out, and shows which calls would be decided otherwise.',
    properties: {
      ...spanProperties(usualRecords),
      rules: filesProperty,
      against: {
        type: 'string',
        enum: ['records', 'in-force'],
        default: 'records',
        description: 'What to compare with: what was decided then, or what the rules in force would say.',
      },
      promote: { type: 'string', maxLength: 64, description: 'Id of a rule that is only tried out.' },
    },
    run: async (args, context) => {
      const chosen = chooseCandidate(rules, args);
      const span = await chooseSpan(store, args, usualRecords);
      const replay = new Replay({
        ...{ rules: chosen, registry, workspace, workspaceOf },
        ...(args['against'] === 'in-force' ? { against: rules.current } : {}),
        organisation: store.readOrganisation(),
        findSession: (id) => store.readSession(id),
        fromMs: span.from === 0 ? 0 : (span.fromMs ?? 0),
      });
      for await (const page of walkRecords(store, span, context)) {
        for (const record of page) await replay.take(record);
      }
      return { in_force: rules.current.hash, hash: chosen.hash, ...describeSpan(span), ...describeReplay(replay) };
    },
  });
}

function chooseCandidate(rules: AppliedRules, { rules: given, promote }: JsonObject): LoadedRules {
  if (given !== undefined && promote !== undefined) {
    throw new ToolFailure('INVALID_ARGUMENTS', 'Give other rules, or a rule to promote, not both.');
  }
  if (typeof promote === 'string') return rules.previewPromotion(promote);
  if (given === undefined) return rules.preview();
  const { folder, files } = given as { readonly folder: string; readonly files: Readonly<Record<string, string>> };
  return rules.preview(
    ruleFileNames.map((name) => {
      const text = files[name];
      const bytes = text === undefined ? undefined : Buffer.from(text);
      return { name, file: join(folder, name), ...(bytes === undefined ? {} : { bytes }) };
    }),
  );
}

function describeReplay({ decided, undecidable, changed }: Replay): JsonObject {
  const ways = new Map<string, number>();
  for (const { was, would } of changed) {
    const way = `${was.effect} → ${would.effect}`;
    ways.set(way, (ways.get(way) ?? 0) + 1);
  }
  return {
    decided,
    undecidable,
    changed: changed.length,
    ways: Object.fromEntries(ways),
    calls: changed.slice(-mostShown).map(describeChange),
  };
}

function describeChange({ index, callId, atMs, tool, agent, was, would }: ChangedCall): JsonObject {
  return {
    ...{ index, call_id: callId, at: new Date(atMs).toISOString(), tool, agent },
    ...{ was: was.effect, was_rule: was.ruleId },
    ...{ would: would.effect, would_rule: would.ruleId, reason: would.reason },
  };
}
