import { hash } from 'node:crypto';
import { leaseRefusal } from '../../governance/lease.ts';
import { matchesName } from '../../governance/name-pattern.ts';
import type { Session } from '../../model/session.ts';
import { ConfigError } from '../../model/fault.ts';
import type { AnyTool, ToolDefinition } from '../../model/tool.ts';
import type { Question, Rules } from '../../model/verdict.ts';
import { exportForMcp } from '../../registry/export-tools.ts';
import type { McpTool } from '../../registry/export-tools.ts';
import { isVisible } from '../../registry/registry.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Store } from '../../storage/stores.ts';
import { withKeptResults } from './kept-results.ts';

export interface OfferParts {
  readonly registry: Pick<Registry, 'all' | 'onChange'>;
  readonly store: Pick<Store, 'readMode'>;
  readonly currentRules: () => Pick<Rules, 'hash'> & {
    /** Whether some call of the tool could be let through. */
    readonly mayOpen: (asked: Omit<Question, 'resources'>) => boolean;
  };
}

/** The tools that a session may call now, as MCP clients know them. */
export class OfferedTools {
  readonly #parts: OfferParts;
  /** Canonical names by exported name; undefined: to be made again. */
  #canonicalNames: ReadonlyMap<string, string> | undefined;
  readonly #stopListening: () => void;
  readonly #listeners = new Set<() => void>();
  #registryVersion = 0;

  constructor(parts: OfferParts) {
    this.#parts = parts;
    this.#stopListening = parts.registry.onChange(() => {
      this.#canonicalNames = undefined;
      this.#registryVersion++;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Called when tools come or go; not for rules, modes and leases. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#listeners.clear();
    this.#stopListening();
  }

  /** What passes lease, mode and rules as far as they can tell without arguments. Whether a call passes, the gate says. */
  list(session: Session, nowMs: number): readonly McpTool[] {
    const { registry, store, currentRules } = this.#parts;
    if (leaseRefusal(session.lease, nowMs) !== undefined) return [];
    const rules = currentRules();
    const mode = store.readMode();
    const { principal, agent } = session;
    const offered = registry.all.filter(
      (tool) =>
        isVisible(tool, principal) &&
        isCallable(tool) &&
        tool.definition.allowedModes.includes(mode) &&
        session.lease.tools.some((pattern) => matchesName(pattern, tool.definition.name)) &&
        rules.mayOpen({ tool: tool.definition, principal, agent, mode, nowMs }),
    );
    return offered.flatMap(({ definition }) => exportTool(definition));
  }

  /** What the list depends on, besides the time of the day. Cheap: for whoever looks again and again. */
  describeCauses({ lease }: Session, nowMs: number): string {
    const { store, currentRules } = this.#parts;
    const isOver = leaseRefusal(lease, nowMs) !== undefined;
    return [this.#registryVersion, store.readMode(), currentRules().hash, lease.id, isOver].join(' ');
  }

  /** Differs when the list does. */
  fingerprint(session: Session, nowMs: number): string {
    return hash('sha256', JSON.stringify(this.list(session, nowMs)));
  }

  /** The canonical name of the tool that is listed under this one. What is not listed stays as it is, for the gate. */
  canonicalName(name: string): string {
    this.#canonicalNames ??= new Map(
      this.#parts.registry.all.map(({ definition }) => [definition.name.replaceAll('.', '_'), definition.name]),
    );
    return this.#canonicalNames.get(name) ?? name;
  }
}

/** A tool whose name clients would not take is left out, alone: it must not cost the others their place. */
function exportTool(definition: ToolDefinition): readonly McpTool[] {
  try {
    return exportForMcp([definition]).tools.map(withKeptResults);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

function isCallable(tool: AnyTool): boolean {
  return tool.explainUnusable?.() === undefined;
}
