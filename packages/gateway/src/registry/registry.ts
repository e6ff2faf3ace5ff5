import { compareNaturally } from '@sallyport/contract';
import { Fault } from '../call/fault.ts';
import type { Mode, Principal } from '../call/session.ts';
import type { AnyTool } from '../call/tool.ts';
import { compareVersions } from './compare-versions.ts';
import { nearestNames } from '../text/nearest-names.ts';
import { SchemaCheck } from './schemas/check-schema.ts';
import { joinVersion } from './tool-name.ts';

export interface RegisteredTool {
  readonly tool: AnyTool;
  readonly input: SchemaCheck;
  readonly output: SchemaCheck;
}

/** A tool that could not be registered, and why. */
export interface RejectedTool {
  readonly tool: AnyTool;
  readonly reason: string;
}

/**
 * All tools, by canonical name, by alias and by `name@version`. Those built in are there from the start; every other
 * source sets its own whenever they change. A call keeps the tool that it found, whatever happens here meanwhile.
 */
export class Registry {
  readonly #builtIn: RegisteredTool[] = [];
  readonly #sources = new Map<string, readonly RegisteredTool[]>();
  /** Also of tools that were replaced: calls in flight still check their results. */
  readonly #registered = new WeakMap<AnyTool, RegisteredTool>();
  readonly #listeners = new Set<() => void>();
  /** By name and alias: the version that is meant when a call names none. */
  #byName = new Map<string, RegisteredTool>();
  readonly #byClient = new Map<string, RegisteredTool>();
  #byVersion = new Map<string, RegisteredTool>();
  /** One a name, by name. */
  #tools: readonly RegisteredTool[] = [];

  /** Adds tools that are built in. Throws when a name or alias is taken: two tools must never answer to one name. */
  register(...tools: readonly AnyTool[]): void {
    const owners = new Map([...this.#byName].map(([name, { tool }]) => [name, tool.definition.name]));
    for (const tool of tools) {
      for (const name of namesOf(tool)) {
        const owner = owners.get(name);
        if (owner !== undefined) throw new Error(`the name ${name} belongs to ${owner}`);
        owners.set(name, tool.definition.name);
      }
    }
    this.#builtIn.push(...tools.map((tool) => this.#prepare(tool)));
    this.#index();
  }

  /**
   * Puts the tools of a source in the place of those it had. Several versions of one name may be among them. A tool
   * whose name belongs to another source, or is no different from another one for models, is left out.
   */
  replaceSource(source: string, tools: readonly AnyTool[]): readonly RejectedTool[] {
    const rejected: RejectedTool[] = [];
    const accepted: RegisteredTool[] = [];
    const others = this.#listNames(source);
    const own = new Map<string, string>();
    for (const tool of tools) {
      const { name, version } = tool.definition;
      const forms = namesOf(tool).map(exportedForm);
      const owner =
        firstOf(forms, (form) => others.get(form)) ?? firstOf(forms, (form) => exceptSame(own.get(form), name));
      if (owner !== undefined) rejected.push({ tool, reason: `its name belongs to ${owner}` });
      else if (accepted.some((each) => isSame(each.tool, tool))) {
        rejected.push({ tool, reason: `${joinVersion(name, version)} already exists` });
      } else {
        for (const form of forms) own.set(form, name);
        accepted.push(this.#registered.get(tool) ?? this.#prepare(tool));
      }
    }
    this.#sources.set(source, accepted);
    this.#index();
    for (const listener of this.#listeners) listener();
    return rejected;
  }

  /** Called after the tools of a source were replaced, and not for built-in ones. Returns how to stop it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Tools as clients run them by themselves: known to nobody else, and found by their canonical names alone. */
  registerForClients(...tools: readonly AnyTool[]): void {
    for (const tool of tools) this.#byClient.set(tool.definition.name, this.#prepare(tool));
  }

  findForClient(name: string): RegisteredTool | undefined {
    return this.#byClient.get(name);
  }

  /** By canonical name, alias, or `name@version`. */
  find(name: string): RegisteredTool | undefined {
    return this.#byName.get(name) ?? this.#byVersion.get(name);
  }

  /** Throws when the tool never was a registered one: what cannot be checked must not pass. */
  schemasOf(tool: AnyTool): RegisteredTool {
    const registered = this.#registered.get(tool);
    if (registered === undefined) throw new Fault('INTERNAL', `${tool.definition.name} is not registered`);
    return registered;
  }

  /** Names that a caller may have meant; only of tools that the caller may know of. */
  suggest(wanted: string, principal: Principal): string[] {
    const names = [...this.#byName].filter(([, { tool }]) => isVisible(tool, principal)).map(([name]) => name);
    return nearestNames(wanted, names);
  }

  /** One a name: the version that is meant when a call names none. */
  get all(): readonly AnyTool[] {
    return this.#tools.map(({ tool }) => tool);
  }

  /** Newest first. */
  versionsOf(name: string): readonly AnyTool[] {
    const versions = [...this.#byVersion.values()]
      .map(({ tool }) => tool)
      .filter((tool) => tool.definition.name === name);
    return versions.sort((a, b) => compareVersions(b.definition.version, a.definition.version));
  }

  listForMode(mode: Mode): readonly AnyTool[] {
    return this.all.filter((tool) => tool.definition.allowedModes.includes(mode) && !isOnlyName(tool));
  }

  filterByCategory(category: string): readonly AnyTool[] {
    return this.all.filter((tool) => tool.definition.category === category);
  }

  filterByTag(tag: string): readonly AnyTool[] {
    return this.all.filter((tool) => tool.definition.tags.includes(tag));
  }

  /** Compiles schemas ahead of their first call, a little at a time, so that nobody waits for it. */
  async warmUp(signal: AbortSignal, isWanted: (tool: AnyTool) => boolean = () => true): Promise<void> {
    for (const { tool, input, output } of this.#tools) {
      if (signal.aborted) return;
      if (!isWanted(tool)) continue;
      try {
        input.compile();
        output.compile();
      } catch {
        // A schema that does not compile fails the calls of its own tool, one by one; it harms no other.
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #prepare(tool: AnyTool): RegisteredTool {
    const { inputSchema, outputSchema, origin } = tool.definition;
    const isForeign = origin !== undefined;
    const registered = {
      tool,
      input: new SchemaCheck(inputSchema, 'arguments', { isForeign }),
      output: new SchemaCheck(outputSchema, 'result', { isForeign }),
    };
    this.#registered.set(tool, registered);
    return registered;
  }

  #index(): void {
    const byName = new Map<string, RegisteredTool>();
    const byVersion = new Map<string, RegisteredTool>();
    for (const registered of [...this.#builtIn, ...[...this.#sources.values()].flat()]) {
      const { name, version, aliases } = registered.tool.definition;
      byVersion.set(joinVersion(name, version), registered);
      const other = byName.get(name);
      const meant = other === undefined ? registered : preferred(other, registered);
      for (const each of [name, ...aliases]) byName.set(each, meant);
    }
    this.#byName = byName;
    this.#byVersion = byVersion;
    this.#tools = [...new Set(byName.values())].sort((a, b) => compareNames(a.tool, b.tool));
  }

  /** Names of tools of all sources but one, as models see them, and whose they are. */
  #listNames(exceptSource: string): Map<string, string> {
    const names = new Map<string, string>();
    const others = [...this.#sources].filter(([name]) => name !== exceptSource).flatMap(([, tools]) => tools);
    for (const { tool } of [...this.#builtIn, ...others]) {
      for (const name of namesOf(tool)) names.set(exportedForm(name), tool.definition.name);
    }
    return names;
  }
}

function firstOf<Item, Found>(items: readonly Item[], look: (item: Item) => Found | undefined): Found | undefined {
  return items.map(look).find((found) => found !== undefined);
}

function exceptSame(owner: string | undefined, name: string): string | undefined {
  return owner === name ? undefined : owner;
}

function namesOf({ definition }: AnyTool): readonly string[] {
  return [definition.name, ...definition.aliases];
}

/** Models get names without dots: what differs in them only would be one tool to them. */
function exportedForm(name: string): string {
  return name.replaceAll('.', '_');
}

function compareNames(a: AnyTool, b: AnyTool): number {
  return compareNaturally(a.definition.name, b.definition.name);
}

function isSame(a: AnyTool, b: AnyTool): boolean {
  return a.definition.name === b.definition.name && a.definition.version === b.definition.version;
}

/** The newest that can be called; if none can, the newest. */
function preferred(a: RegisteredTool, b: RegisteredTool): RegisteredTool {
  const [isUsable, isOtherUsable] = [isCallable(a.tool), isCallable(b.tool)];
  if (isUsable !== isOtherUsable) return isUsable ? a : b;
  return compareVersions(a.tool.definition.version, b.tool.definition.version) >= 0 ? a : b;
}

/** Whether it can be called as it stands, by whomever. */
export function isCallable(tool: AnyTool): boolean {
  return tool.explainUnusable?.() === undefined;
}

export function isVisible(tool: AnyTool, principal: Principal): boolean {
  return tool.definition.audience !== 'operator' || principal === 'operator';
}

/** Rules know it by this name, and nobody can ever call it. */
export function isOnlyName({ definition, explainUnusable }: AnyTool): boolean {
  return definition.origin === undefined && explainUnusable?.() !== undefined;
}
