import { messageLine } from '@sallyport/contract/message-line';
import type { Door } from '../../call/call.ts';
import type { HttpRoute, TakeMessage } from '../transport/http-route.ts';
import { RpcError } from '../transport/rpc-error.ts';
import { ClientFolders } from './client-folders.ts';
import type { FolderParts } from './client-folders.ts';
import type { GateServerParts } from './gate-server.ts';
import type { McpService, McpServiceParts } from './mcp-service.ts';
import { KnownEnvelopes } from './known-envelopes.ts';
import { OfferedTools } from './offered-tools.ts';
import type { OfferParts } from './offered-tools.ts';
import { PendingTickets } from './pending-tickets.ts';
import type { TicketStore } from './pending-tickets.ts';

type Made = 'createServer' | 'tools' | 'tickets' | 'folders' | 'parked' | 'calls' | 'envelopes' | 'serverInfo';

export type McpParts = Omit<McpServiceParts, Made> &
  Omit<GateServerParts, Made> &
  OfferParts &
  FolderParts & { readonly store: TicketStore };

export interface Mcp {
  readonly routes: readonly HttpRoute[];
  /** Ends what stays open without being asked for. Calls that still run are answered. */
  readonly close: () => void;
}

const doors: readonly Door[] = ['agent-socket', 'tcp'];

/** The MCP door. What it needs is loaded with the first request: a quarter of a second that no start waits for. */
export function openMcp(parts: McpParts): Mcp {
  const tools = new OfferedTools(parts);
  let service: Promise<McpService> | undefined;
  let opened: McpService | undefined;
  const load = async (): Promise<McpService> => {
    const [{ McpService: Service }, { describeServer, gateServers }, { ParkedCalls }] = await Promise.all([
      import('./mcp-service.ts'),
      import('./gate-server.ts'),
      import('./parked-calls.ts'),
    ]);
    const tickets = new PendingTickets(parts.store);
    const calls = { ...parts, tools, tickets, folders: new ClientFolders(parts), parked: new ParkedCalls() };
    const envelopes = new KnownEnvelopes();
    const createServer = gateServers({ ...parts, ...calls, envelopes });
    opened = new Service({
      ...parts,
      ...{ tools, calls, envelopes, createServer, serverInfo: describeServer(parts.version) },
    });
    return opened;
  };
  const handle: McpService['handle'] = async (...asked) => {
    if (opened === undefined) await (service ??= load());
    return opened?.handle(...asked);
  };
  return {
    // The bridge of a client opens a line only after its first requests were answered.
    routes: mcpRoutes(handle, (...asked) => opened?.takeMessage(...asked)),
    close: () => {
      tools.close();
      void service?.then((loaded) => loaded.close());
    },
  };
}

export function mcpRoutes(handle: McpService['handle'], takeMessage: TakeMessage): readonly HttpRoute[] {
  const path = '/mcp';
  const refuse = (): never => {
    throw new RpcError('failed_precondition', `Only ${messageLine.protocol} is spoken here. Post messages to ${path}.`);
  };
  return [
    ...['POST', 'GET', 'DELETE'].map((method) => ({ method, path, doors, handle, handleWhole: handle })),
    { method: 'GET', path: messageLine.path, doors, handle: refuse, takeMessage },
  ];
}
