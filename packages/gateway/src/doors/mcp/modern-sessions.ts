import { createMcpHandler } from '@modelcontextprotocol/server';
import type { McpHttpHandler, Server } from '@modelcontextprotocol/server';
import { authInfoOf } from './caller.ts';
import type { Caller, Served } from './caller.ts';

interface ModernSession {
  readonly handler: McpHttpHandler;
  /** Requests and subscriptions that are open. */
  open: number;
}

const maxSubscriptionsPerOwner = 16;

/**
 * Requests of the protocol of 2026-07-28, which know no sessions of MCP. What is kept for a session of the gate, as long
 * as something of it is open, is whom to tell that its tools have changed.
 */
export class ModernSessions {
  readonly #createServer: () => Server;
  readonly #onError: (error: Error) => void;
  readonly #sessions = new Map<string, ModernSession>();

  constructor(createServer: () => Server, onError: (error: Error) => void) {
    this.#createServer = createServer;
    this.#onError = onError;
  }

  async fetch(request: Request, caller: Caller): Promise<Served> {
    const { message } = caller;
    const owner = caller.session.id;
    const session = this.#open(owner);
    session.open++;
    const release = (): void => {
      if (--session.open <= 0) this.#sessions.delete(owner);
    };
    try {
      const parsed = message === undefined ? {} : { parsedBody: message };
      const response = await session.handler.fetch(request, { ...parsed, authInfo: authInfoOf(caller) });
      return { response, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  notifyTools(owner: string): void {
    this.#sessions.get(owner)?.handler.notify.toolsChanged();
  }

  #open(owner: string): ModernSession {
    const found = this.#sessions.get(owner);
    if (found !== undefined) return found;
    const handler = createMcpHandler(this.#createServer, {
      legacy: 'reject',
      maxSubscriptions: maxSubscriptionsPerOwner,
      onerror: this.#onError,
    });
    const opened = { handler, open: 0 };
    this.#sessions.set(owner, opened);
    return opened;
  }
}
