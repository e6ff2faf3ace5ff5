import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { everyoneKnown } from '../doors/echo-doors.ts';
import { Transfers } from '../../packages/gateway/src/content/transfers.ts';
import { openDoors } from '../../packages/gateway/src/doors/transport/open-doors.ts';
import { toolProtocolService } from '../../packages/gateway/src/doors/typed/serve.ts';
import type { ToolProtocolParts } from '../../packages/gateway/src/doors/typed/serve.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';

export interface TypedDoors {
  readonly port: number;
  readonly agentSocket: string;
  readonly operatorSocket: string;
  /** What went wrong inside, by the transport and by the door. */
  readonly complaints: readonly unknown[];
}

/** The typed door on real sockets, with a gateway that the test plays. Closed when the test ends. */
export async function openTypedDoors(
  test: TestContext,
  parts: Omit<ToolProtocolParts, 'onFault' | 'redact' | 'store' | 'uploads'>,
): Promise<TypedDoors> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-typed-'));
  const agentSocket = join(folder, 'agent.sock');
  const operatorSocket = join(folder, 'operator.sock');
  const complaints: unknown[] = [];
  const store = { findSessionByToken: () => undefined };
  const doors = await openDoors({
    services: [
      toolProtocolService({
        ...{ ...parts, store, uploads: new Transfers(), redact: ownText },
        onFault: (error) => complaints.push(error),
      }),
    ],
    tcp: { host: '127.0.0.1', port: 0 },
    operatorSocket,
    agentSocket,
    callers: everyoneKnown,
    health: () => ({ status: 'serving' }),
    log: (event) => complaints.push(event),
    redact: ownText,
  });
  test.after(async () => {
    await doors.close(0);
    rmSync(folder, { recursive: true });
  });
  return { port: doors.port ?? 0, agentSocket, operatorSocket, complaints };
}
