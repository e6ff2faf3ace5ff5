import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { create } from '@bufbuild/protobuf';
import {
  ExecuteToolRequestSchema,
  ExecuteToolResponseSchema,
  ExecuteToolsResponseSchema,
  ExecuteToolStreamResponseSchema,
  GetActivityResponseSchema,
  GetReceiptResponseSchema,
  GetStatusResponseSchema,
  GetToolSchemaResponseSchema,
  GetUsageResponseSchema,
  ListAvailableToolsResponseSchema,
  OperatorService,
  ReadAuditResponseSchema,
  SearchAuditResponseSchema,
  StopResponseSchema,
  VerifyAuditResponseSchema,
  WatchAuditResponseSchema,
  ToolService,
} from '@sallyport/contract';
import type { ExecuteToolRequest } from '@sallyport/contract';
import { doors } from '../../packages/gateway/src/call/call.ts';
import { openDoors } from '../../packages/gateway/src/doors/transport/open-doors.ts';
import type { DoorOptions, Doors } from '../../packages/gateway/src/doors/transport/open-doors.ts';
import type { Callers, Peer } from '../../packages/gateway/src/doors/transport/peer.ts';
import { RpcError } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import type { TransportEvent } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import { answerInAnyOrder } from '../../packages/gateway/src/doors/answer-in-any-order.ts';
import { bindService } from '../../packages/gateway/src/doors/transport/service-binding.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';

/** What the tool behind the doors does with a request. The text becomes the answer's output. */
export type Behaviour = (request: ExecuteToolRequest, peer: Peer) => Promise<string> | string;

export interface EchoDoors {
  readonly doors: Doors;
  readonly port: number;
  readonly operatorSocket: string;
  readonly agentSocket: string;
  readonly logged: readonly TransportEvent[];
}

/** For tests of what comes behind: all requests are of one session, with a credential or without. */
export const everyoneKnown: Callers = {
  identify: () => 'tester',
  refuse: () => Promise.resolve(new RpcError('unauthenticated', 'No valid credential was presented.')),
};

export const executeToolPath = '/sallyport.v1.ToolService/ExecuteTool';

/** Real doors on a free port and on sockets in a folder of their own; closed when the test ends. */
export async function openEchoDoors(
  test: TestContext,
  behaviour: Behaviour = ({ inputJson }) => inputJson,
  options: Partial<DoorOptions> = {},
): Promise<EchoDoors> {
  const folder = mkdtempSync(join(tmpdir(), 'doors-'));
  const operatorSocket = join(folder, 'operator.sock');
  const agentSocket = join(folder, 'agent.sock');
  const logged: TransportEvent[] = [];
  const opened = await openDoors({
    services: [bindTools(behaviour), bindOperator()],
    redact: ownText,
    tcp: { host: '127.0.0.1', port: 0 },
    operatorSocket,
    agentSocket,
    callers: everyoneKnown,
    health: () => ({ status: 'serving' }),
    log: (event) => logged.push(event),
    ...options,
  });
  test.after(async () => {
    await opened.close(0);
    rmSync(folder, { recursive: true });
  });
  return { doors: opened, port: opened.port ?? 0, operatorSocket, agentSocket, logged };
}

function bindTools(behaviour: Behaviour) {
  return bindService(ToolService, doors, {
    executeTool: async (request, peer) => {
      const outputJson = await behaviour(request, peer);
      const { requestId, name: tool } = request;
      return create(ExecuteToolResponseSchema, { requestId, tool, result: { case: 'success', value: { outputJson } } });
    },
    executeToolStream: async function* ({ call }, peer) {
      const outputJson = await behaviour(call ?? create(ExecuteToolRequestSchema), peer);
      const response = create(ExecuteToolResponseSchema, { result: { case: 'success', value: { outputJson } } });
      yield create(ExecuteToolStreamResponseSchema, { event: { case: 'response', value: response } });
    },
    executeTools: (requests, peer) =>
      answerInAnyOrder(requests, 16, async ({ number, call }) => {
        const outputJson = await behaviour(call ?? create(ExecuteToolRequestSchema), peer);
        const value = create(ExecuteToolResponseSchema, { result: { case: 'success', value: { outputJson } } });
        return create(ExecuteToolsResponseSchema, { number, result: { case: 'response', value } });
      }),
    listAvailableTools: async () => create(ListAvailableToolsResponseSchema, { mode: 'NORMAL' }),
    exportTools: () => Promise.reject(new Error('nothing asks for it')),
    getToolSchema: async ({ name }) => create(GetToolSchemaResponseSchema, { tool: { name } }),
  });
}

function bindOperator() {
  return bindService(OperatorService, ['operator-socket'], {
    getStatus: async () => create(GetStatusResponseSchema, { version: 'test' }),
    stop: async () => create(StopResponseSchema),
    readAudit: async () => create(ReadAuditResponseSchema),
    watchAudit: async function* () {
      yield create(WatchAuditResponseSchema);
    },
    verifyAudit: async () => create(VerifyAuditResponseSchema),
    getReceipt: async () => create(GetReceiptResponseSchema),
    searchAudit: async () => create(SearchAuditResponseSchema),
    getUsage: async () => create(GetUsageResponseSchema),
    getActivity: async () => create(GetActivityResponseSchema),
  });
}
