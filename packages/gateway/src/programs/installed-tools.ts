import { setTimeout } from 'node:timers/promises';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { Snapshot, ToolPin, ToolPinRepository } from '../storage/stores.ts';
import type { AcceptedDefinitions } from './accepted-definitions.ts';
import type { SkippedFile } from './find-tool-files.ts';
import { isBroken, GatedTool } from './installed-tool.ts';
import type { InstalledTool } from './installed-tool.ts';
import { judgeOffers } from './judge-offers.ts';
import type { Registry } from '../registry/registry.ts';
import { eventOf, listEvents } from './tool-event.ts';
import type { ToolEvent } from './tool-event.ts';
import { joinVersion } from '../registry/tool-name.ts';
import type { OfferedTools, ToolOffer, ToolSource } from './tool-offer.ts';

export interface InstalledToolsOptions {
  readonly registry: Pick<Registry, 'replaceSource'>;
  readonly pins: ToolPinRepository & Pick<Snapshot, 'listToolPins'>;
  readonly accepted: AcceptedDefinitions;
  readonly sources: readonly ToolSource[];
  /** Whether a rule takes new and changed tools of this name in without asking. */
  readonly acceptsNew: (name: string, origin: ToolOffer['origin']) => boolean;
  readonly recordEvent: (event: ToolEvent) => void;
  /** What the registry calls these tools together. Absent: `installed`. */
  readonly registrySource?: string;
  readonly nowMs?: () => number;
}

const acceptingRule = 'accept_new';
const mostLooks = 20;
const pauseMs = 100;

/**
 * The tools that people put there: programs in the tools folder and tools written in configuration. Keeps the registry
 * as they stand, and knows which of them somebody accepted.
 *
 * Concurrency: all methods may be called at any time; looks at the sources follow one another.
 */
export class InstalledTools {
  readonly #options: InstalledToolsOptions;
  readonly #closing = new AbortController();
  /** By key: a tool stays the same object while its bytes and description do. */
  #standing: ReadonlyMap<string, GatedTool> = new Map();
  #offered: OfferedTools = { offers: [], skipped: [], isUnsettled: false };
  #installed: readonly InstalledTool[] = [];
  #rejected: readonly SkippedFile[] = [];
  #state = '';
  #looking: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(options: InstalledToolsOptions) {
    this.#options = options;
  }

  /** By name, older versions first. */
  get all(): readonly InstalledTool[] {
    return this.#installed;
  }

  /** Files in the folders that are not tools, and why. */
  get skipped(): readonly SkippedFile[] {
    return [...this.#offered.skipped, ...this.#rejected];
  }

  /** Something was being written at the last look. */
  get isUnsettled(): boolean {
    return this.#offered.isUnsettled;
  }

  /** Looks at the sources again. Resolves after a look that began after this call. */
  refresh(): Promise<void> {
    // A look that has begun may have missed what the caller knows of. The next one has not, and serves all who wait.
    const lookNext = (): Promise<void> => {
      this.#next = undefined;
      this.#looking = this.#look();
      return this.#looking;
    };
    this.#next ??= this.#looking.then(lookNext, lookNext);
    return this.#next;
  }

  /** Looks until nothing is being written any more, or for a while. */
  async refreshUntilSettled(signal: AbortSignal): Promise<void> {
    for (let look = 0; look < mostLooks; look++) {
      await this.refresh();
      if (!this.isUnsettled) return;
      await setTimeout(pauseMs, undefined, { signal });
    }
  }

  /** Ends a look that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await (this.#next ?? this.#looking).catch(() => undefined);
  }

  /** `version` absent: the newest that waits to be accepted, otherwise the newest. Throws ToolFailure NOT_FOUND. */
  find(name: string, version?: string): InstalledTool {
    const versions = this.#installed.filter(({ definition }) => definition.name === name);
    const found =
      version === undefined
        ? (versions.findLast(({ isAccepted }) => !isAccepted) ?? versions.at(-1))
        : versions.find(({ definition }) => definition.version === version);
    if (found !== undefined) return found;
    const spelled = version === undefined ? name : joinVersion(name, version);
    throw new ToolFailure('NOT_FOUND', `There is no installed tool ${spelled}.`, {
      forOperators: '`sallyport tool status` shows them.',
    });
  }

  /** From now on exactly this may run. Durable when the promise resolves. */
  async accept(tool: InstalledTool, by: string): Promise<void> {
    const { offer, definition } = tool;
    if (offer === undefined) throw new ToolFailure('NOT_FOUND', `The file of ${definition.name} is gone.`);
    if (offer.trouble?.isPassing === true) {
      throw new ToolFailure('EXECUTION_ERROR', `${definition.name} cannot be accepted yet: ${offer.trouble.reason}.`);
    }
    if (isBroken(tool)) {
      const remedy = 'Fix the file, or remove the tool and install it again.';
      throw new ToolFailure('EXECUTION_ERROR', `${definition.name} cannot be accepted: ${tool.reason}. ${remedy}`);
    }
    await this.#pin(tool, offer, by);
    this.#publish();
  }

  /** Nothing of this name and version is accepted any more. Durable when the promise resolves. */
  async forget(tool: InstalledTool, by: string): Promise<void> {
    const { name, version } = tool.definition;
    if (await this.#options.pins.unpinTool(name, version)) {
      this.#options.recordEvent(eventOf('tool_forgotten', tool, by));
    }
    this.#publish();
  }

  async #look(): Promise<void> {
    const { sources, acceptsNew } = this.#options;
    const lists = await Promise.all(sources.map((source) => source.list(this.#closing.signal)));
    if (this.#closing.signal.aborted) return;
    this.#offered = {
      offers: lists.flatMap(({ offers }) => offers),
      skipped: lists.flatMap(({ skipped }) => skipped),
      isUnsettled: lists.some(({ isUnsettled }) => isUnsettled),
    };
    // Only what has a name of its own is taken in, and that is known when it was tried.
    this.#publish();
    const welcome = this.#installed.flatMap((tool) => {
      const { isAccepted, offer } = tool;
      if (isAccepted || offer === undefined || offer.trouble?.isPassing === true || isBroken(tool)) return [];
      return acceptsNew(tool.definition.name, offer.origin) ? [this.#pin(tool, offer, acceptingRule)] : [];
    });
    await Promise.all(welcome);
    this.#publish();
  }

  async #pin(tool: InstalledTool, offer: ToolOffer, by: string): Promise<void> {
    const { pins, accepted, recordEvent, nowMs = Date.now } = this.#options;
    const { name, version } = tool.definition;
    const { fileSha256, definitionSha256 } = offer;
    const pin: ToolPin = { name, version, fileSha256, definitionSha256, acceptedAtMs: nowMs(), acceptedBy: by };
    await accepted.keep(pin, offer);
    await pins.pinTool(pin);
    recordEvent(eventOf('tool_accepted', tool, by));
  }

  /** Brings the registry and the log up to date. */
  #publish(): void {
    const { registry, pins, accepted, recordEvent, registrySource = 'installed' } = this.#options;
    const { installed, rejected } = judgeOffers(this.#offered.offers, pins.listToolPins(), accepted);
    const state = describeState(installed, rejected);
    if (state === this.#state) return;
    this.#state = state;
    const standing = new Map(installed.map((tool) => [tool.key, this.#stand(tool)]));
    this.#standing = standing;
    const refused = registry.replaceSource(registrySource, [...standing.values()]);
    const reasons = new Map<AnyTool | undefined, string>(refused.map(({ tool, reason }) => [tool, reason]));
    const isRefused = (tool: InstalledTool): boolean => reasons.has(standing.get(tool.key));
    this.#rejected = [
      ...rejected,
      ...installed.filter(isRefused).map((tool) => ({
        file: tool.offer?.file ?? tool.id,
        reason: reasons.get(standing.get(tool.key)) ?? '',
      })),
    ];
    const before = this.#installed;
    this.#installed = installed.filter((tool) => !isRefused(tool));
    for (const event of listEvents(before, this.#installed)) recordEvent(event);
  }

  #stand(tool: InstalledTool): GatedTool {
    const standing = this.#standing.get(tool.key);
    standing?.stand(tool);
    return standing ?? new GatedTool(tool);
  }
}

function describeState(tools: readonly InstalledTool[], rejected: readonly SkippedFile[]): string {
  const states = tools.map(({ key, status, reason, isAccepted, pin }) => [
    [key, status, reason, isAccepted],
    [pin?.acceptedBy, pin?.acceptedAtMs],
  ]);
  return JSON.stringify([states, rejected]);
}
