import type { Upstream } from '../../upstreams/upstream.ts';
import type { Snapshot } from '../../storage/stores.ts';

export interface StartingToolsParts {
  readonly pins: Pick<Snapshot, 'listToolPins'>;
  readonly findUpstream: (name: string) => Pick<Upstream, 'state' | 'offers'> | undefined;
}

/** Which accepted tools are not there yet, because the daemon has just started. Their callers may try again. */
export class StartingTools {
  readonly #parts: StartingToolsParts;
  #hasLooked = false;

  constructor(parts: StartingToolsParts) {
    this.#parts = parts;
  }

  /** The folders were looked at for the first time. Servers may still be on their way. */
  looked(): void {
    this.#hasLooked = true;
  }

  readonly isStarting = (toolName: string): boolean => {
    const name = plain(toolName);
    const [upstream = ''] = toolName.split(/[._]/);
    if (this.#hasLooked && !isConnecting(this.#parts.findUpstream(upstream))) return false;
    return this.#parts.pins.listToolPins().some((pin) => plain(pin.name) === name);
  };
}

/** For the first time. One that is reached again offers meanwhile what it offered before. */
function isConnecting(upstream: Pick<Upstream, 'state' | 'offers'> | undefined): boolean {
  return upstream?.state === 'connecting' && upstream.offers === undefined;
}

/** Without its version, and as models spell it. */
function plain(toolName: string): string {
  return (toolName.split('@')[0] ?? '').replaceAll('.', '_').toLowerCase();
}
