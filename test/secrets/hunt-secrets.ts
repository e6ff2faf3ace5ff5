import { fromBinary, toJson } from '@bufbuild/protobuf';
import { ExecuteToolResponseSchema } from '@sallyport/contract';
import { credentialPatterns } from '../../packages/gateway/src/redaction/credentials/index.ts';
import { fillIn } from '../../packages/gateway/src/redaction/credentials/credential-example.test-kit.ts';
import { disguises, encodings, ForbiddenPieces } from './forbidden-pieces.ts';
import type { Fields, GateInProcess, ShownTool } from './gate-in-process.ts';
import { Draw, drawSecret } from './random-secrets.ts';
import type { DrawnSecret } from './random-secrets.ts';

export interface FoundLeak {
  readonly kind: string;
  readonly length: number;
  readonly channel: string;
  readonly how: string;
  readonly piece: string;
  readonly around: string;
}

export interface Round {
  readonly asked: number;
  readonly leaks: readonly FoundLeak[];
}

type Who = 'operator' | 'agent';
type Attempt = (gate: GateInProcess, who: Who) => Promise<{ readonly json: unknown }>;

/** Where in an answer callers get back the names that they chose themselves. Everything else is searched. */
const echoes = new Set(['requestId', 'request_id', 'context.taskId', 'context.correlationId']);
/**
 * What a tool returns is its own and reaches the caller as it is, also what it was asked about. Of the tools that tell of
 * plans, tools and servers no result shows what the gate holds.
 */
function isOwnResult(place: string, isHeld: boolean): boolean {
  const [, tool = ''] = /^arguments of (.+)$/.exec(place) ?? [];
  return tool !== '' && !(isHeld && /^(?:plans|tools|upstreams)\./.test(tool));
}

const result = 'success.outputJson';
/** Where operators are shown the effect of a call of their own, before they confirm it. */
const ownEffect = 'denied.approval.effect';

/** A secret that the gate knows, in every encoding and at every place where a caller can put a text. */
export async function huntKnownSecret(gate: GateInProcess, tools: readonly ShownTool[], seed: string): Promise<Round> {
  const draw = new Draw(seed);
  const secret = drawSecret(draw);
  await gate.learn(secret.value);
  const ways = [...encodings, ...disguises];
  const texts = ways.map(({ name, encode }) => frame(draw, name, encode, secret.value));
  return hunt(gate, tools, draw, secret, texts);
}

/** A credential that nobody told the gate of: only its shape gives it away. */
export async function huntShapedSecret(gate: GateInProcess, tools: readonly ShownTool[], seed: string): Promise<Round> {
  const draw = new Draw(seed);
  const { id, match } = draw.pick(credentialPatterns);
  const { text, secrets } = fillIn(draw.pick(match), (end) => draw.below(end));
  // Numbers are the public part of a credential: they name the account.
  const randomParts = secrets.filter((part) => !/^\d+$/.test(part));
  const secret = { kind: id, value: '', randomParts };
  const texts = [`see ${text} there`, `${pad(draw)} ${text} there`];
  // What only looks like a secret is shown to operators who confirm it as their own: nothing may hide from them there.
  return hunt(gate, tools, draw, secret, texts, (who, path) => who === 'operator' && path === ownEffect);
}

async function hunt(
  gate: GateInProcess,
  tools: readonly ShownTool[],
  draw: Draw,
  secret: DrawnSecret,
  texts: readonly string[],
  isOpen: (who: Who, path: string) => boolean = () => false,
): Promise<Round> {
  const forbidden = new ForbiddenPieces(secret);
  const leaks: FoundLeak[] = [];
  const search = (channel: string, text: string): void => {
    const found = forbidden.find(text);
    if (found !== undefined) leaks.push({ kind: secret.kind, length: secret.value.length, channel, ...found });
  };
  const isHeld = secret.value !== '';
  let asked = 0;
  for (const text of texts) {
    const attempts = [...placesFor(text, gate), ...argumentsWith(text, tools, draw)];
    await Promise.all(
      attempts.map(async ([place, attempt]) => {
        const who = draw.pick(['operator', 'agent'] as const);
        const { json } = await attempt(gate, who);
        asked++;
        for (const { path, text: said } of textsOf(json)) {
          if (echoes.has(path) || isOpen(who, path) || (path === result && isOwnResult(place, isHeld))) continue;
          search(`${path} of the answer to ${place} of an ${who}`, said);
        }
      }),
    );
    const { records, log } = gate.readNews();
    for (const record of records) search('record', record);
    search('log', log);
  }
  return { asked, leaks };
}

/** Somewhere in the text, often where something is cut. */
function frame(draw: Draw, name: string, encode: (text: string) => string, value: string): string {
  const shift = / after (\d) bytes$/.exec(name)?.[1];
  if (shift === undefined) return `${pad(draw)}${encode(value)}${draw.pick(['', ' now', '/x', ';'])}`;
  // The whole text is in base64, so that the secret is in the middle of it.
  const form = name.startsWith('base64url') ? 'base64url' : 'base64';
  const bytes = Buffer.from(`${'::::::'.slice(0, Number(shift))}${value};`);
  return `${pad(draw)}${bytes.toString(form)}`;
}

const borders = [80, 100, 120, 140, 200, 240, 256, 512, 1000, 1512, 2000, 4096];

function pad(draw: Draw): string {
  if (draw.below(2) === 0) return draw.pick(['', 'it is ', 'x=', '/', './', '"']);
  const length = Math.max(0, draw.pick(borders) - draw.below(60));
  return 'lorem ipsum dolor '.repeat(Math.ceil(length / 18)).slice(0, length);
}

function placesFor(text: string, gate: GateInProcess): [string, Attempt][] {
  const { home } = gate.place;
  const call = (name: string, input: unknown, more: Fields = {}): Attempt => {
    const inputJson = typeof input === 'string' ? input : JSON.stringify(input);
    return (to, who) => to.ask(who, { name, inputJson, ...more });
  };
  const post = (path: string, body: unknown): Attempt => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    return (to, who) => to.post(who, path, sent);
  };
  const json = JSON.stringify(text);
  const service = '/sallyport.v1.ToolService';
  const ids = { requestId: text, context: { taskId: text, correlationId: text } };
  return [
    ['the name of a tool', call(text, {})],
    ['the name of a schema', post(`${service}/GetToolSchema`, { name: text })],
    ['ids', call('files.list', { path: 'absent' }, ids)],
    ['a short id', call('files.list', { path: 'absent' }, { requestId: text.length <= 256 ? text : '' })],
    ['an unknown argument', call('files.read', { path: 'a', [text]: { deep: [text] } })],
    ['a deep argument', call('artifacts.publish', { metadata: { [text]: { [text]: 1 } }, [text]: text })],
    ['a key twice', call('files.read', `{${json}:1,${json}:2}`)],
    ['no JSON', call('files.read', `{"path":${text}}`)],
    ['a number', call('files.read', `{"path":${/(?<=^|\s)\d{9,}(?=$|\s)/.exec(text)?.[0] ?? '1'.repeat(20)}}`)],
    ['a path', call('files.read', { path: text })],
    ['a path elsewhere', call('files.read', { path: `/etc/${text}` })],
    ['a path in a path', call('files.list', { path: `/etc/${text}/../${text}//x/./${text}` })],
    ['a protected path', call('files.write', { path: `${home}/${text}`, content: text })],
    ['an unsafe path', call('files.write', { path: `${text}\0`, content: text })],
    ['content', call('files.write', { path: 'notes.md', content: text })],
    ['content for approval', call('files.write', { path: '.vscode/tasks.json', content: `+\n${text}\n` })],
    ['a file for approval', call('files.delete', { path: text })],
    ['a pattern', call('files.search', { path: '.', pattern: `(${text}`, regex: true })],
    ['a program', call('shell.run', { argv: [text, text], env: { TEXT: text } })],
    ['a command', call('shell.run', { command: `true ${text}` })],
    ['a folder', call('sessions.create', { agent: 'x', working_directory: text })],
    ['a lease', call('leases.grant', { session_id: text, paths: [text] })],
    ['a long list', call('files.read', { path: 'a', list: [['--token', text], text, { password: text }] })],
    ['another door', post('/v1/calls', { tool_name: text, arguments: { path: text } })],
    ['another form', post('/v1/calls', { toolName: 'files.read', agentId: text, arguments: { [text]: text } })],
    ['another form, no JSON', post('/v1/calls', `{"tool_name":"files.read",${json}:1,${json}:2}`)],
    ['another form, two names', post('/v1/calls', { tool_name: text, toolName: text })],
    ['another form, wrong type', post('/v1/calls', { tool_name: 'files.read', timeout_ms: text })],
    ['the typed door', post('/sallyport.v1.ToolProtocolService/Execute', typedRequest(text))],
    ['a message, wrong type', post(`${service}/ExecuteTool`, { name: 'files.read', timeoutMs: text })],
    ['a message, no field', post(`${service}/ExecuteTool`, { name: { [text]: text } })],
    ['no message', post(`${service}/ExecuteTool`, `{"name":${text}`)],
    ['a method', post(`${service}/${encodeURIComponent(text).slice(0, 4000)}`, {})],
    ['an address', post(`/${encodeURIComponent(text).slice(0, 4000)}`, {})],
    ['a service', post('/grpc.health.v1.Health/Check', { service: text })],
    ['a plan', call('plans.propose', plan('files.delete', { path: '.vscode' }, text))],
    ['a plan that is stopped', call('plans.propose', plan(text, { path: `/etc/${text}` }, text))],
    ['a plan elsewhere', call('plans.propose', plan('files.read', { path: `/etc/${text}`, [text]: text }, text))],
    ['a typed plan', post('/sallyport.v1.PlanService/ProposePlan', typedPlan(text))],
    ['a plan by its number', call('plans.show', { plan_id: text })],
    ['what waits', call('approvals.list', { status: 'all', limit: 5 })],
    ['plans', call('plans.list', { limit: 5 })],
    ['a session', post('/sallyport.v1.SessionService/GetSession', { sessionId: text })],
  ];
}

/** Whole or not at all: of what was cut before it came nobody could tell. */
function plan(tool: string, args: Fields, text: string): Fields {
  const fitting = (most: number): string => (text.length <= most ? text : 'x');
  return {
    summary: fitting(4000),
    calls: [{ tool: tool === text ? fitting(256) : tool, arguments: args, reason: fitting(2000) }],
  };
}

function typedPlan(text: string): Fields {
  return { summary: text, calls: [{ tool: text, inputJson: JSON.stringify({ [text]: text }), reason: text }] };
}

function typedRequest(text: string): Fields {
  return { requestId: text, sessionToken: 'sp_none', gitOp: { operation: text, args: [text], cwd: text } };
}

/** The text as some arguments of some tools, so that over many rounds it is every argument of every tool. */
function argumentsWith(text: string, tools: readonly ShownTool[], draw: Draw): [string, Attempt][] {
  return Array.from({ length: 6 }, () => {
    const { name, properties } = draw.pick(tools);
    const filled = properties.map((property) => [property, draw.below(2) === 0 ? text : draw.pick([1, 'x', [text]])]);
    const inputJson = JSON.stringify(Object.fromEntries(filled));
    // Success would hand the caller's own text back or, for a secret, teach it to the gate.
    const isSafe = name !== 'secrets.set';
    return [`arguments of ${name}`, (gate, who) => gate.ask(isSafe ? who : 'agent', { name, inputJson })];
  });
}

interface PlacedText {
  /** The members that lead to it, with dots between. */
  readonly path: string;
  readonly text: string;
}

/** All texts of an answer, those in the details of an error among them. */
function textsOf(value: unknown, path = ''): PlacedText[] {
  if (typeof value === 'string') return path.endsWith('details.value') ? detailsOf(value) : [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((each) => textsOf(each, path));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    { path: `${path}.`, text: key },
    ...textsOf(member, path === '' ? key : `${path}.${key}`),
  ]);
}

function detailsOf(base64: string): PlacedText[] {
  const answer = fromBinary(ExecuteToolResponseSchema, Buffer.from(base64, 'base64'));
  return textsOf(toJson(ExecuteToolResponseSchema, answer));
}
