import { join } from 'node:path';
import { PolicyReplaySchema } from '@sallyport/contract';
import type { InJson, JsonObject, PolicyReplay } from '@sallyport/contract';
import type { AppliedRules } from '../files/applied-rules.ts';
import type { LoadedRules } from '../language/load-rules.ts';
import { ruleFileNames } from '../language/rule.ts';
import { maxFileBytes } from '../../text/source-file.ts';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { longTimeoutMs } from '../tools/policy-parts.ts';
import type { PolicyToolParts } from '../tools/policy-parts.ts';
import { Replay } from './replay-records.ts';
import type { ReplayParts } from './replay-records.ts';
import { chooseSpan, describeSpan, spanProperties, walkDecided } from './walk-records.ts';
import type { Span, SpanArguments } from './walk-records.ts';

const usualRecords = 10_000;
const mostShown = 200;

interface ReplayArguments extends SpanArguments {
  readonly rules?: { readonly folder: string; readonly files: JsonObject };
  readonly against: 'records' | 'in-force';
  readonly promote?: string;
}

const filesProperty = {
  type: 'object',
  additionalProperties: false,
  required: ['folder', 'files'],
  description: 'The text of other rule files, which the gate itself may not be able to read.',
  properties: {
    folder: { type: 'string', maxLength: 4096, description: 'Where they are, for messages about them.' },
    files: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(ruleFileNames.map((name) => [name, { type: 'string', maxLength: maxFileBytes }])),
    },
  },
} as const;

export function replayTool(parts: PolicyToolParts) {
  const { rules } = parts;
  return defineOperatorTool({
    name: 'policy.replay',
    description:
      'Decides recorded calls again, by the rule files as they are now, by others, or with a shadow rule in force, and shows which calls would be decided differently.',
    mutates: false,
    timeoutMs: longTimeoutMs,
    properties: {
      ...spanProperties(usualRecords),
      rules: filesProperty,
      against: {
        type: 'string',
        enum: ['records', 'in-force'],
        default: 'records',
        description: 'What to compare with: what was decided then, or what the rules in force would say.',
      },
      promote: { type: 'string', maxLength: 64, description: 'Id of a shadow rule.' },
    },
    answers: PolicyReplaySchema,
    run: async (args, context) => {
      const chosen = chooseCandidate(rules, args);
      const span = await chooseSpan(parts.store, args, usualRecords);
      const against = args.against === 'in-force' ? { against: rules.current } : {};
      const replay = openReplay(parts, { rules: chosen, ...against, span });
      for await (const page of walkDecided(parts.store, span, context)) await replay.take(page);
      const hashes = { inForce: rules.current.hash, hash: chosen.hash };
      return { ...hashes, span: describeSpan(span), ...(await describeReplay(replay)) };
    },
    summarize: (_args, { decided, changed }) => `${changed} of ${decided} calls would change`,
  });
}

/** Nothing is decided yet: give it records. */
export function openReplay(
  { registry, store, workspace, workspaceOf }: PolicyToolParts,
  { rules, against, span }: Pick<ReplayParts, 'rules' | 'against'> & { readonly span: Span },
): Replay {
  return new Replay({
    ...{ rules, registry, workspace, workspaceOf },
    ...(against && { against }),
    organisation: store.readOrganisation(),
    findSession: (id) => store.readSession(id),
    readRecord: async (index) => (await store.readRecords(index, 1))[0],
    fromMs: span.from === 0 ? 0 : (span.fromMs ?? 0),
  });
}

function chooseCandidate(rules: AppliedRules, { rules: given, promote }: ReplayArguments): LoadedRules {
  if (given !== undefined && promote !== undefined) {
    throw new ToolFailure('INVALID_ARGUMENTS', 'Give other rules, or a rule to promote, not both.');
  }
  if (promote !== undefined) return rules.previewPromotion(promote);
  if (given === undefined) return rules.preview();
  return rules.preview(
    ruleFileNames.map((name) => {
      const text = given.files[name];
      return { name, file: join(given.folder, name), ...(typeof text === 'string' && { bytes: Buffer.from(text) }) };
    }),
  );
}

export async function describeReplay(replay: Replay) {
  const { decided, undecidable, changed, ways } = replay;
  const calls = await replay.readChanged(mostShown);
  return { decided, undecidable, changed, ways, calls } satisfies Partial<InJson<PolicyReplay>>;
}
