import { hash } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import type { Redactor } from '../audit/redact.ts';
import type { ToolContextFactory } from '../executors/tool-context.ts';
import type { ArgumentsChecked, Begun, Consented, Judged, Opened, Resolved, ReuseChecked } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import { ToolFailure, ToolRefused } from '../model/tool.ts';
import type { Effect } from '../model/tool.ts';
import type { Stage } from '../pipeline/stage.ts';

type Needs = Begun &
  Opened &
  Resolved &
  ArgumentsChecked &
  Judged &
  ReuseChecked & { readonly mode: import('../model/session.ts').Mode };

/**
 * Where the verdict asks for a person: shows the effect and binds the consent to exactly this call and this effect.
 * So far only operators can consent, to calls of their own.
 */
export function seekApproval(createContext: ToolContextFactory, redactor: Redactor): Stage<Needs, Consented> {
  return {
    name: 'seek-approval',
    run: async (call) => {
      const { verdict, session, tool } = call;
      if (verdict.effect === 'allow' || call.reused !== undefined) return {};
      let effect: Effect;
      try {
        effect = await tool.preview(call.arguments.value, createContext(call, call.signal).context);
      } catch (error) {
        return refusePreview(error, tool.definition.name);
      }
      const binding = bindingOf(call, effect);
      if (call.confirmBinding === binding && session.principal === 'operator') {
        return { consent: { by: session.agent, how: 'own-call-confirmed', binding } };
      }
      const shown = { binding, effect: redactor.redactText(`${effect.summary}\n${effect.detail}`.trimEnd()) };
      if (call.confirmBinding !== '' && session.principal === 'operator') {
        const message = 'The confirmation was given for another call, or the effect has changed since it was shown.';
        return refuse('APPROVAL_MISMATCH', verdict.rule, message, {
          remedy: 'Look at the effect again.',
          approval: shown,
        });
      }
      return refuse(
        'APPROVAL_REQUIRED',
        verdict.rule,
        `${tool.definition.name} needs a person's approval: ${verdict.reason}`,
        {
          remedy:
            session.principal === 'operator'
              ? 'Run the call from a terminal, where you can look at its effect and confirm it.'
              : `Ask the operator to run it: \`sallyport tool invoke ${tool.definition.name}\` shows the effect and asks.`,
          ...(session.principal === 'operator' ? { approval: shown } : {}),
        },
      );
    },
  };
}

/** What a consent is tied to. The effect is part of it: another before-image is another decision. */
function bindingOf(call: Needs, effect: Effect): string {
  return hash(
    'sha256',
    canonicalJson({
      session: call.session.id,
      tool: call.tool.definition.name,
      version: call.tool.definition.version,
      arguments_sha256: call.arguments.sha256,
      rules: call.rules.hash,
      mode: call.mode,
      effect: { summary: effect.summary, detail: effect.detail, undoable: effect.undoable },
    }),
  );
}

/** A call whose effect cannot be shown is not put to anyone. */
function refusePreview(error: unknown, tool: string): Refusal {
  if (error instanceof ToolRefused) return error.refusal;
  if (error instanceof ToolFailure) {
    return refuse(error.code, 'preview', error.message, { remedy: `The effect of ${tool} could not be worked out.` });
  }
  throw error;
}
