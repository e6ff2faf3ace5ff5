import type { Judged, Resolved } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Stage } from '../call/stage.ts';

/** What the sandbox of this machine can do. */
export interface SandboxState {
  /** Why programs cannot be confined here, and what to do about it. Absent: they can. */
  readonly explainUnusable: () => { readonly reason: string; readonly remedy: string } | undefined;
  /** Why limits are only watched here, and what to do about it. Absent: the kernel enforces them. */
  readonly explainWatched: () => { readonly reason: string; readonly remedy: string } | undefined;
}

/** A tool that must be confined does not run where nothing confines it, unless a rule says so explicitly. */
export function checkSandbox(sandbox: SandboxState): Stage<Resolved & Judged> {
  return {
    name: 'check-sandbox',
    run: ({ tool, verdict }) => {
      if (!tool.definition.requiresSandbox && verdict.rewrite !== true) return undefined;
      const watched = verdict.grants?.exactLimits === true ? sandbox.explainWatched() : undefined;
      if (watched !== undefined) {
        const message = `${tool.definition.name} runs only where its limits are enforced: ${watched.reason}`;
        return refuse('LIMIT_UNENFORCEABLE', 'sandbox', message, { forOperators: watched.remedy });
      }
      if (verdict.grants?.isolation === 'none') return undefined;
      const unusable = sandbox.explainUnusable();
      if (unusable === undefined) return undefined;
      const { reason, remedy } = unusable;
      const message = `${tool.definition.name} runs only in a sandbox, and this machine has none: ${reason}`;
      return refuse('SANDBOX_UNAVAILABLE', 'sandbox', message, { forOperators: remedy });
    },
  };
}
