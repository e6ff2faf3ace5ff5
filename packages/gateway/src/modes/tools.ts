import { ModeChangeSchema, ModeHistorySchema, ModeReportSchema, spellCount } from '@sallyport/contract';
import type { InJson, ModeChange as ChangeMessage } from '@sallyport/contract';
import { edges } from '../policy/judge/mode-policy.ts';
import type { ModePolicy } from '../policy/judge/mode-policy.ts';
import { isRefusal } from '../call/refusal.ts';
import { modes } from '../call/session.ts';
import { ToolRefused } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { ModeAuthority } from './mode-authority.ts';
import type { ModeChange } from '../storage/stores.ts';
import { defineOperatorTool } from '../registry/define-operator-tool.ts';
import * as schema from '../registry/schemas/schema.ts';

export interface ModeToolParts {
  readonly authority: ModeAuthority;
  readonly policy: () => ModePolicy;
}

/** Seeing and changing the mode. For operators, in every mode. */
export function modeTools(parts: ModeToolParts): readonly AnyTool[] {
  return [showTool(parts), setTool(parts), historyTool(parts)];
}

function showTool({ authority, policy }: ModeToolParts) {
  return defineOperatorTool({
    name: 'mode.show',
    description: 'Shows the mode, its limits, the modes it can change to, and what caused it.',
    mutates: false,
    answers: ModeReportSchema,
    run: async () => {
      const mode = authority.current();
      const { maxRunning, callsPerMinute } = policy().limits[mode];
      const [last] = await authority.history(1);
      return {
        mode,
        maxRunning,
        ...(callsPerMinute === undefined ? {} : { callsPerMinute }),
        leadsTo: edges[mode],
        ...(last === undefined ? {} : { lastChange: describeChange(last) }),
      };
    },
    summarize: (_args, { mode }) => `the mode is ${mode}`,
  });
}

function setTool({ authority }: ModeToolParts) {
  return defineOperatorTool({
    name: 'mode.set',
    description: 'Changes the mode. LOCKDOWN stops running calls that change something, at once.',
    mutates: true,
    properties: {
      mode: { enum: modes },
      cause: schema.string('Why the mode changes. It is recorded in the log.', { minLength: 1, maxLength: 500 }),
    },
    required: ['mode', 'cause'],
    answers: ModeChangeSchema,
    preview: ({ mode }) => {
      const present = authority.current();
      return { summary: `Change the mode from ${present} to ${mode}.`, undoable: edges[mode].includes(present) };
    },
    run: async ({ mode, cause }, context) => {
      const made = await authority.change({ to: mode, by: context.session.agent, cause: context.redact(cause) });
      if (isRefusal(made)) throw new ToolRefused(made);
      return describeChange(made);
    },
    summarize: (_args, { from, to }) => `changed the mode from ${from} to ${to}`,
  });
}

function historyTool({ authority }: ModeToolParts) {
  return defineOperatorTool({
    name: 'mode.history',
    description: 'Lists the changes of the mode with their causes, newest first.',
    mutates: false,
    properties: { limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50 } },
    answers: ModeHistorySchema,
    run: async ({ limit }) => {
      return { changes: (await authority.history(limit)).map(describeChange) };
    },
    summarize: (_args, { changes }) => spellCount(changes.length, 'change'),
  });
}

function describeChange({ from, to, by, cause, atMs }: ModeChange): InJson<ChangeMessage> {
  return { from, to, by: by ?? 'sallyport', cause, changedAtMs: String(atMs) };
}
