import { leaseRefusal, outsideLease } from '../policy/judge/lease.ts';
import type { Membership } from '../call/organisation.ts';
import { isRefusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import type { AnyTool } from '../call/tool.ts';
import type { Question, Rules } from '../call/verdict.ts';
import { modeRefusal } from '../modes/mode-refusal.ts';
import type { ModeGate } from '../modes/mode-refusal.ts';
import { findMembership } from '../organisation/check-member.ts';
import { isVisible } from '../registry/registry.ts';
import type { Store } from '../storage/stores.ts';

export interface ToolVisibilityParts {
  readonly store: Pick<Store, 'readMode' | 'readOrganisation'>;
  readonly modes: ModeGate;
  /** Undefined: the workspace of the session is not accepted, and nothing is open to it. */
  readonly rulesFor: (session: Pick<Session, 'workspace'>) =>
    | (Pick<Rules, 'hash' | 'workspace'> & {
        /** Whether some call of the tool could be let through. */
        readonly mayOpen: (asked: Omit<Question, 'resources'>) => boolean;
      })
    | undefined;
}

/**
 * Which tools a session sees, at every door: those with some call that would pass lease, organisation, mode and rules
 * now. It asks the same functions as these gates. A call can still be refused because of what it names.
 */
export class ToolVisibility {
  readonly #parts: ToolVisibilityParts;

  constructor(parts: ToolVisibilityParts) {
    this.#parts = parts;
  }

  /** Whether the session may see the tool at all, in any mode and under any rules. */
  isEntitled(tool: AnyTool, session: Session, nowMs: number): boolean {
    return this.#standingFor(tool, session, nowMs) !== undefined;
  }

  isShown(tool: AnyTool, session: Session, nowMs: number): boolean {
    const membership = this.#standingFor(tool, session, nowMs);
    if (membership === undefined) return false;
    const { store, modes, rulesFor } = this.#parts;
    const { definition } = tool;
    const mode = store.readMode();
    if (modeRefusal(definition, mode, modes, session.principal) !== undefined) return false;
    const { principal, agent } = session;
    // People also see tools that the rules close, so that they notice when a rule is missing.
    if (principal === 'operator') return true;
    const asked = { ...membership, tool: definition, principal, agent, mode, nowMs };
    return rulesFor(session)?.mayOpen(asked) ?? false;
  }

  /**
   * What it depends on, besides the tools and the time of day: an item differs if the result may have changed. Cheap.
   */
  causesOf(session: Session, nowMs: number): readonly unknown[] {
    const { store, rulesFor } = this.#parts;
    const { lease } = session;
    const isOver = leaseRefusal(lease, nowMs) !== undefined;
    const rules = rulesFor(session);
    return [lease.id, isOver, store.readOrganisation(), store.readMode(), rules?.hash, rules?.workspace.key];
  }

  #standingFor(tool: AnyTool, session: Session, nowMs: number): Membership | undefined {
    const { name } = tool.definition;
    if (!isVisible(tool, session.principal)) return undefined;
    if (outsideLease(session.lease, name, { paths: [] }, nowMs) !== undefined) return undefined;
    const membership = findMembership(this.#parts.store.readOrganisation(), session, name);
    return isRefusal(membership) ? undefined : membership;
  }
}
