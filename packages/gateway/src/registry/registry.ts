import { Fault } from '../model/fault.ts';
import type { Mode, Principal } from '../model/session.ts';
import type { AnyTool } from '../model/tool.ts';
import { nearestNames } from './nearest-names.ts';
import { SchemaCheck } from './check-schema.ts';

export interface RegisteredTool {
  readonly tool: AnyTool;
  readonly input: SchemaCheck;
  readonly output: SchemaCheck;
}

/** All tools, by canonical name and by alias. */
export class Registry {
  readonly #byName = new Map<string, RegisteredTool>();
  readonly #tools: RegisteredTool[] = [];

  /** Throws when a name or alias is taken: two tools must never answer to one name. */
  register(tool: AnyTool): void {
    const { definition } = tool;
    const names = [definition.name, ...definition.aliases];
    for (const name of names) {
      const taken = this.#byName.get(name);
      if (taken !== undefined) throw new Error(`the name ${name} belongs to ${taken.tool.definition.name}`);
    }
    const registered = {
      tool,
      input: new SchemaCheck(definition.inputSchema, 'arguments'),
      output: new SchemaCheck(definition.outputSchema, 'result'),
    };
    for (const name of names) this.#byName.set(name, registered);
    this.#tools.push(registered);
    this.#tools.sort((a, b) => a.tool.definition.name.localeCompare(b.tool.definition.name));
  }

  find(nameOrAlias: string): RegisteredTool | undefined {
    return this.#byName.get(nameOrAlias);
  }

  /** Throws when the tool is not the registered one: what cannot be checked must not pass. */
  schemasOf(tool: AnyTool): RegisteredTool {
    const registered = this.#byName.get(tool.definition.name);
    if (registered?.tool !== tool) throw new Fault('INTERNAL', `${tool.definition.name} is not registered`);
    return registered;
  }

  /** Names that a caller may have meant; only of tools that the caller may know of. */
  suggest(wanted: string, principal: Principal): string[] {
    const names = [...this.#byName].filter(([, { tool }]) => isVisible(tool, principal)).map(([name]) => name);
    return nearestNames(wanted, names);
  }

  get all(): readonly AnyTool[] {
    return this.#tools.map(({ tool }) => tool);
  }

  listForMode(mode: Mode): readonly AnyTool[] {
    return this.all.filter((tool) => tool.definition.allowedModes.includes(mode));
  }

  filterByCategory(category: string): readonly AnyTool[] {
    return this.all.filter((tool) => tool.definition.category === category);
  }

  filterByTag(tag: string): readonly AnyTool[] {
    return this.all.filter((tool) => tool.definition.tags.includes(tag));
  }

  /** Compiles every schema ahead of its first call, a little at a time, so that nobody waits for it. */
  async warmUp(signal: AbortSignal): Promise<void> {
    for (const { input, output } of this.#tools) {
      if (signal.aborted) return;
      try {
        input.compile();
        output.compile();
      } catch {
        // A schema that does not compile fails the calls of its own tool, one by one; it harms no other.
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

export function isVisible(tool: AnyTool, principal: Principal): boolean {
  return tool.definition.audience === 'everyone' || principal === 'operator';
}
