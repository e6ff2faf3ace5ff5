import { hash } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import type { Redactor } from '../audit/redact.ts';
import { openDeadline, runBuiltin } from '../executors/run-builtin.ts';
import type { ToolContextFactory } from '../executors/tool-context.ts';
import type * as facts from '../model/call.ts';
import { isRefusal, refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import { ToolRefused } from '../model/tool.ts';
import type { Effect } from '../model/tool.ts';
import type { Stage } from '../pipeline/stage.ts';

type Needs = facts.Begun &
  facts.Opened &
  facts.Resolved &
  facts.ArgumentsChecked &
  facts.Leased &
  facts.ModeRead &
  facts.Judged &
  facts.ReuseChecked;

/**
 * Where the verdict asks for a person: shows the effect and binds the consent to exactly this call and this effect.
 * So far only operators can consent, to calls of their own.
 */
export function seekApproval(createContext: ToolContextFactory, redactor: Redactor): Stage<Needs, facts.Consented> {
  return {
    name: 'seek-approval',
    run: async (call) => {
      const { verdict, session, tool } = call;
      if (verdict.effect === 'allow' || call.reused !== undefined) return {};
      const { name } = tool.definition;
      const required = `${name} needs a person's approval: ${verdict.reason}`;
      // Before the preview: what it finds, such as whether a file exists, is not for a caller who may not look.
      if (session.principal !== 'operator') {
        return refuse('APPROVAL_REQUIRED', verdict.rule, required, {
          remedy: `Ask the operator to run it: \`sallyport tool invoke ${name}\` shows the effect and asks.`,
        });
      }
      const effect = await previewEffect(call, createContext);
      if (isRefusal(effect)) return effect;
      const binding = bindingOf(call, effect);
      if (call.confirmBinding === binding) {
        return { consent: { by: session.agent, how: 'own-call-confirmed', binding } };
      }
      const shown = { binding, effect: redactor.redactText(`${effect.summary}\n${effect.detail}`.trimEnd()) };
      if (call.confirmBinding !== '') {
        const message = 'The confirmation was given for another call, or the effect has changed since it was shown.';
        return refuse('APPROVAL_MISMATCH', verdict.rule, message, {
          remedy: 'Look at the effect again.',
          approval: shown,
        });
      }
      return refuse('APPROVAL_REQUIRED', verdict.rule, required, {
        remedy: 'Run the call from a terminal, where you can look at its effect and confirm it.',
        approval: shown,
      });
    },
  };
}

/** The effect, within the time that the call itself would have. One that cannot be shown is not put to anyone. */
async function previewEffect(call: Needs, createContext: ToolContextFactory): Promise<Effect | Refusal> {
  const { tool } = call;
  const deadline = openDeadline(call.signal, call.effectiveTimeoutMs);
  try {
    const observed = createContext(call, deadline.signal);
    const preview = async () => ({ ...(await tool.preview(call.arguments.value, observed.context)) });
    const { result } = await runBuiltin(preview, deadline.signal, observed);
    if (result.ok) return result.output as unknown as Effect;
    const { code, message } = result.failure;
    return refuse(code, 'preview', message, {
      remedy: `The effect of ${tool.definition.name} could not be worked out.`,
    });
  } catch (error) {
    if (error instanceof ToolRefused) return error.refusal;
    throw error;
  } finally {
    deadline.close();
  }
}

/** What a consent is tied to. The effect is part of it: another before-image is another decision. */
function bindingOf(call: Needs, effect: Effect): string {
  // A tool may have cut its text through a surrogate pair, which has no canonical form.
  const [summary, detail] = [effect.summary.toWellFormed(), effect.detail.toWellFormed()];
  return hash(
    'sha256',
    canonicalJson({
      session: call.session.id,
      tool: call.tool.definition.name,
      version: call.tool.definition.version,
      arguments_sha256: call.arguments.sha256,
      rules: call.rules.hash,
      mode: call.mode,
      effect: { summary, detail, undoable: effect.undoable },
    }),
  );
}
