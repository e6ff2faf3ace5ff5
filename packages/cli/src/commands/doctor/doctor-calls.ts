import { existsSync, readFileSync } from 'node:fs';
import type { CreateSessionResponse, InJson } from '@sallyport/contract';
import { overHttp } from '@sallyport/contract/http-transport';
import { isSignedBy, verifyReceipt } from '@sallyport/log';
import { version } from '@sallyport/gateway';
import type { Check } from '@sallyport/gateway';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import { readAddress } from '../../client/choose-caller.ts';
import { openClient } from '../../client/daemon-client.ts';
import { CommandFailure, describeError } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import type { DaemonAnswer } from './doctor-daemon.ts';

interface Tried {
  readonly calls: readonly Check[];
  /** What the daemon found when it looked at itself. Empty: it did not. */
  readonly itself: readonly Check[];
}

export const noCalls: Tried = { calls: [], itself: [] };

type Status = NonNullable<DaemonAnswer['status']>;

/**
 * Makes real calls through every part of a running gate, as an agent of its own that is ended afterwards: the socket, the
 * rules, a program in the sandbox, the log, MCP and the console. They are in the log like any others.
 */
export async function tryCalls(status: Status, context: CommandContext): Promise<Tried> {
  if (status.health !== 'serving') return noCalls;
  const operator = context.openOperatorClient();
  const session = { agent: 'doctor', tools: ['files.list'], expires_in_minutes: 5, max_calls: 10 };
  let opened: InJson<CreateSessionResponse> | undefined;
  const checks: Check[] = [];
  let itself: readonly Check[] = [];
  const look = async (name: string, part: () => Promise<Omit<Check, 'name'>>): Promise<void> => {
    checks.push({ name, ...(await part().catch(failed)) });
  };
  await look('session', async () => {
    const answer = await operator.executeTool({ name: 'sessions.create', inputJson: JSON.stringify(session) });
    if (statusOf(answer) !== 'success') return failed(describeAnswer(answer));
    opened = outputOf(answer) as InJson<CreateSessionResponse>;
    return { state: 'ok', message: 'opened for an agent called doctor' };
  });
  if (opened === undefined) return { calls: checks, itself: [] };
  const { sessionId, token } = opened;
  const { config } = context;
  const agent = openClient({
    home: config.home,
    port: config.port,
    startCommand: '',
    environment: { SALLYPORT_TOKEN: token },
  });
  const call = (name: string, input: object) => agent.executeTool({ name, inputJson: JSON.stringify(input) });
  let callId = '';
  try {
    await look('call', async () => {
      const answer = await call('files.list', { path: '.' });
      ({ callId = '' } = answer);
      return judge(answer, 'files.list, judged by the rules and answered');
    });
    await look('program', async () => {
      const answer = await operator.executeTool({ name: 'self.check', inputJson: '{}' });
      const { checks: found = [] } = (outputOf(answer) ?? {}) as { readonly checks?: readonly Check[] };
      itself = found;
      return itself.find(({ name }) => name === 'program') ?? judge(answer, 'not tried');
    });
    await look('record', () => checkRecord(callId, context));
    await look('mcp', () => checkMcp(status.address, token));
    await look('console', () => checkConsole(status.address));
  } finally {
    const input = { session_id: sessionId };
    await operator.executeTool({ name: 'sessions.end', inputJson: JSON.stringify(input) }).catch(() => undefined);
  }
  return { calls: checks, itself };
}

const refusedByRules = ['RULE_DENIES', 'NO_RULE_ALLOWS', 'MODE_FORBIDS'];

type Answer = Awaited<ReturnType<ReturnType<typeof openClient>['executeTool']>>;

/** That the rules of this gate say no is no trouble of the gate. */
function judge(answer: Answer, success: string): Omit<Check, 'name'> {
  if (statusOf(answer) === 'success') return { state: 'ok', message: success };
  const { rationaleCode = '', ruleId = '' } = answer.denied ?? {};
  if (refusedByRules.includes(rationaleCode)) return { state: 'ok', message: `refused by your rules: ${ruleId}` };
  return failed(describeAnswer(answer));
}

function describeAnswer({ denied, error }: Answer): string {
  return denied?.message ?? error?.message ?? 'The gate gave no answer that can be read.';
}

function failed(error: unknown): Omit<Check, 'name'> {
  const remedy = error instanceof CommandFailure ? error.remedy : undefined;
  const message = typeof error === 'string' ? error : describeError(error);
  return { state: 'fail', message, ...(remedy === undefined ? {} : { remedy }) };
}

/** Proves the call by its receipt, with the key of the gate. */
async function checkRecord(
  callId: string,
  { openOperatorClient, config }: CommandContext,
): Promise<Omit<Check, 'name'>> {
  const { receiptJson } = await openOperatorClient().call('OperatorService/GetReceipt', { callId });
  const { verifierFile } = config.home;
  const verifier = existsSync(verifierFile) ? readFileSync(verifierFile, 'utf8').trim() : undefined;
  const { intact, problems } = await verifyReceipt(receiptJson, { checkSignature: isSignedBy, verifier });
  if (!intact) return failed(`The record of the call is not proved: ${problems.join(' ')}`);
  return { state: 'ok', message: 'the call is in the log, proved by a signed checkpoint' };
}

async function checkMcp(address: string, token: string): Promise<Omit<Check, 'name'>> {
  const target = readAddress(address);
  if (target === undefined) return failed('The gate does not say at which port it listens.');
  const transport = overHttp(target, { keepAlive: false });
  const question = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: mcpMeta } };
  const { status, body } = await transport.post({
    path: '/mcp',
    headers: { ...mcpHeaders, authorization: `Bearer ${token}` },
    body: Buffer.from(JSON.stringify(question)),
  });
  let text = '';
  for await (const part of body) text += Buffer.from(part).toString();
  return status === 200 && text.includes('"files_list"')
    ? { state: 'ok', message: `tools are listed at ${address}/mcp` }
    : failed(`${address}/mcp answered ${status}: ${text.slice(0, 200)}`);
}

const mcpRevision = '2026-07-28';
const mcpMeta = {
  'io.modelcontextprotocol/protocolVersion': mcpRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'sallyport doctor', version },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const mcpHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': mcpRevision,
  'mcp-method': 'tools/list',
};

async function checkConsole(address: string): Promise<Omit<Check, 'name'>> {
  const response = await fetch(address);
  const text = await response.text();
  return response.status === 200 && text.includes('<script')
    ? { state: 'ok', message: `served at ${address}` }
    : failed(`${address} answered ${response.status}.`);
}
