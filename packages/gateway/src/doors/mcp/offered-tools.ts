import { hash } from 'node:crypto';
import type { Session } from '../../call/session.ts';
import { ConfigError } from '../../call/fault.ts';
import { exportForMcp } from '../../registry/export-tools.ts';
import type { McpTool } from '../../registry/export-tools.ts';
import type { AnyTool } from '../../call/tool.ts';
import { isCallable } from '../../registry/registry.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ShownDefinition, ShownDefinitions } from '../../registry/shown-definitions.ts';
import type { ToolVisibility } from '../../sessions/tool-visibility.ts';
import { passedTags } from '../../upstreams/pass-through.ts';
import { withKeptResults } from './kept-results.ts';

export interface OfferParts {
  readonly registry: Pick<Registry, 'all' | 'onChange'>;
  readonly visibility: Pick<ToolVisibility, 'isShown' | 'causesOf'>;
  readonly definitions: Pick<ShownDefinitions, 'of' | 'version'>;
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

  /** Tools that cannot be called as they stand are left out: clients of MCP could not be told why. */
  list(session: Session, nowMs: number): readonly McpTool[] {
    const { registry, visibility, definitions } = this.#parts;
    return registry.all
      .filter((tool) => !isPassed(tool) && isCallable(tool) && visibility.isShown(tool, session, nowMs))
      .flatMap(({ definition }) => exportTool(definitions.of(definition)));
  }

  /** What the session may ask for under this tag, and clients find elsewhere than among the tools. */
  passed(session: Session, nowMs: number, tag: string): readonly ShownDefinition[] {
    const { registry, visibility, definitions } = this.#parts;
    return registry.all
      .filter((tool) => isPassed(tool, tag) && isCallable(tool) && visibility.isShown(tool, session, nowMs))
      .map(({ definition }) => definitions.of(definition));
  }

  isPassed(name: string, tag: string): boolean {
    return this.#parts.registry.all.some((tool) => tool.definition.name === name && isPassed(tool, tag));
  }

  /** What the list depends on, besides the time of day. Cheap: for the one who looks again and again. */
  causesOf(session: Session, nowMs: number): readonly unknown[] {
    const { visibility, definitions } = this.#parts;
    return [this.#registryVersion, definitions.version, ...visibility.causesOf(session, nowMs)];
  }

  /** Differs when the list does. */
  fingerprint(session: Session, nowMs: number): string {
    return hash('sha256', JSON.stringify(this.list(session, nowMs)));
  }

  /** The canonical name of the tool that is listed under this one. What is not listed stays as it is, for the gate. */
  canonicalName(name: string): string {
    return this.#names.get(name) ?? name;
  }

  /** Whether there is a tool under this exported name, for whomever. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  get #names(): ReadonlyMap<string, string> {
    this.#canonicalNames ??= new Map(
      this.#parts.registry.all.map(({ definition }) => [definition.name.replaceAll('.', '_'), definition.name]),
    );
    return this.#canonicalNames;
  }
}

/** A tool whose name clients would not take is left out, alone: it must not cost the others their place. */
function exportTool(definition: ShownDefinition): readonly McpTool[] {
  try {
    return exportForMcp([definition]).tools.map(withKeptResults);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

/** Without a tag: under any. */
function isPassed({ definition: { origin, tags } }: AnyTool, tag?: string): boolean {
  if (origin !== 'upstream') return false;
  return tag === undefined ? Object.values(passedTags).some((each) => tags.includes(each)) : tags.includes(tag);
}
