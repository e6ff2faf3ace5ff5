import type { SkippedFile } from '../programs/find-tool-files.ts';
import type { OfferedTools, ToolSource } from '../programs/tool-offer.ts';
import { compareNaturally, canonicalJson } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { offerTools } from './offer-tools.ts';
import type { UpstreamConfig } from './upstream-config.ts';
import { Upstream } from './upstream.ts';
import type { UpstreamParts } from './upstream.ts';

/** What the files say now. */
export interface ReadUpstreams {
  readonly configs: readonly UpstreamConfig[];
  readonly skipped: readonly SkippedFile[];
}

/**
 * All upstream servers. They connect in parallel, and nothing waits for any of them; a server whose file changed is
 * closed and replaced.
 */
export class Upstreams implements ToolSource {
  readonly #read: () => ReadUpstreams;
  readonly #parts: UpstreamParts;
  readonly #upstreams = new Map<string, { readonly upstream: Upstream; readonly print: string }>();
  readonly #closing = new Set<Promise<void>>();
  #skipped: readonly SkippedFile[] = [];

  constructor(read: () => ReadUpstreams, parts: UpstreamParts) {
    this.#read = read;
    this.#parts = parts;
  }

  /** By name. */
  get all(): readonly Upstream[] {
    return [...this.#upstreams.values()]
      .map(({ upstream }) => upstream)
      .sort((a, b) => compareNaturally(a.config.name, b.config.name));
  }

  find(name: string): Upstream | undefined {
    return this.#upstreams.get(name)?.upstream;
  }

  /** Mistakes in files, with their lines. */
  get mistakes(): readonly SkippedFile[] {
    return this.#skipped;
  }

  /** Updates the servers from the files. New ones begin to connect. */
  reload(): void {
    const { configs, skipped } = this.#read();
    this.#skipped = skipped;
    const wanted = new Map(configs.map((config) => [config.name, { config, print: printOf(config) }]));
    for (const [name, { upstream, print }] of this.#upstreams) {
      if (wanted.get(name)?.print === print) continue;
      this.#upstreams.delete(name);
      this.#end(upstream);
    }
    for (const [name, { config, print }] of wanted) {
      if (this.#upstreams.has(name)) continue;
      const upstream = new Upstream(config, this.#parts);
      this.#upstreams.set(name, { upstream, print });
      // The upstream keeps the error, and tries again.
      upstream.connect().catch(() => undefined);
    }
  }

  readonly list = (): Promise<OfferedTools> => {
    const lists = this.all.map(offerTools);
    return Promise.resolve({
      offers: lists.flatMap(({ offers }) => offers),
      skipped: [...this.#skipped, ...lists.flatMap(({ skipped }) => skipped)],
      isUnsettled: false,
    });
  };

  /** Resolves when no server is left. */
  async close(): Promise<void> {
    for (const { upstream } of this.#upstreams.values()) this.#end(upstream);
    this.#upstreams.clear();
    await Promise.all(this.#closing);
  }

  #end(upstream: Upstream): void {
    const ended = upstream.close().finally(() => this.#closing.delete(ended));
    this.#closing.add(ended);
  }
}

function printOf({ endpoint, mayAsk, idleMs, assigned, file }: UpstreamConfig): string {
  return canonicalJson({ endpoint, mayAsk, idleMs, file, assigned: [...assigned] } as unknown as Json);
}
