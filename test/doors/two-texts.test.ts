import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { create, toJson } from '@bufbuild/protobuf';
import {
  codes,
  describeCode,
  ExecuteToolResponseSchema,
  ToolRequestSchema,
  ToolResponseSchema,
} from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import { createClient, ToolDenied, ToolFailed } from '@sallyport/sdk/client';
import { Redactor } from '../../packages/gateway/src/redaction/redact.ts';
import type { CommandContext } from '../../packages/cli/src/command-context.ts';
import { showAnswer } from '../../packages/cli/src/client/show-answer.ts';
import { failed, faulted, refused } from '../../packages/gateway/src/closers/ending.test-kit.ts';
import type { Answer } from '../../packages/gateway/src/call/answer.ts';
import { answerCall } from '../../packages/gateway/src/daemon/answer-call.ts';
import * as connect from '../../packages/gateway/src/doors/connect/present-answer.ts';
import * as http from '../../packages/gateway/src/doors/http/present-answer.ts';
import * as mcp from '../../packages/gateway/src/doors/mcp/present-answer.ts';
import * as messages from '../../packages/gateway/src/doors/messages/present-answer.ts';
import * as typed from '../../packages/gateway/src/doors/typed/present-answer.ts';
import type { CallEnding } from '../../packages/gateway/src/call/stage.ts';
import { Fault } from '../../packages/gateway/src/call/fault.ts';
import { refuse } from '../../packages/gateway/src/call/refusal.ts';
import type { Principal } from '../../packages/gateway/src/call/session.ts';
import { ToolFailure } from '../../packages/gateway/src/call/tool.ts';
import { callOf, nowMs, sessionOf } from '../../packages/gateway/src/stages/facts.test-kit.ts';
import { requirement } from '../requirement.ts';

/** How the gate would be opened: a command, a pattern, a rule, and the file that rules are in. */
const forOperators = 'Add {paths: ["$WORKSPACE/**"]} and run `sallyport policy apply`.';
const rule = { id: 'keys-stay', file: '/home/olga/.sallyport/governance/tools.yaml', line: 7 };
const recipe = /sallyport [a-z]|\$WORKSPACE|paths:|governance|\.yaml/;
const why = 'It is not so.';
const instead = 'Do it in another way.';

const allCodes = Object.keys(codes) as Code[];
const redactor = new Redactor();
const { callId } = callOf();

/** The ways in which a call with this code can end, each as a stage or a tool hands it to the doors. */
function endingsOf(code: Code, principal: Principal): readonly CallEnding[] {
  const session = sessionOf({ principal });
  const call = { ...callOf(), session, traceId: 'a'.repeat(32), warnings: [] };
  const refusal = refuse(code, rule, why, { remedy: instead, forOperators });
  const endings = [
    refused(refusal, 'judge-call', call),
    failed(new ToolFailure(code, `${why} ${instead}`, { forOperators }), { session }),
  ];
  return endings as readonly object[] as readonly CallEnding[];
}

function faultsOf(code: Code, principal: Principal): readonly CallEnding[] {
  const call = { ...callOf(), session: sessionOf({ principal }), warnings: [] };
  return [faulted(new Fault(code, forOperators), 'admit-call', call)] as readonly object[] as readonly CallEnding[];
}

type Show = (given: Answer) => unknown;

/** What each door makes of an answer, all of it. */
const doors: Readonly<Record<string, Show>> = {
  connect: wireOf,
  'HTTP, as ToolResult': (given) => http.presentAnswer(given, 'tool-result').body,
  'HTTP, as ToolExecutionResult': (given) => http.presentAnswer(given, 'execution-result').body,
  'HTTP, as tool.results': (given) => messages.presentAnswers([given], [], redactor.redactText).body,
  'typed gRPC': (given) => {
    const tool = { case: 'fileRead', value: { path: 'a' } } as const;
    return toJson(
      ToolResponseSchema,
      typed.presentAnswer(create(ToolRequestSchema, { requestId: 'r-1', tool }), given),
    );
  },
  // People do not come in here: it turns them away.
  MCP: (given) => mcp.presentAnswer(given, { linkToTask: (id) => `http://gate/${id}` }),
  'command line': (given) => typeOut(given, false),
  'command line, --json': (given) => typeOut(given, true),
  SDK: callThroughSdk,
};

function wireOf(given: Answer): object {
  return toJson(ExecuteToolResponseSchema, connect.presentAnswer(given));
}

function typeOut(given: Answer, json: boolean): string {
  const lines: string[] = [];
  const write = (...more: readonly string[]): void => void lines.push(...more);
  const paint = (_style: string, text: string): string => text;
  const terminal = { print: write, note: write, paint, paintNote: paint, columns: 100_000 };
  showAnswer(wireOf(given), { terminal, json, commandName: 'gate' } as object as CommandContext);
  return lines.join('\n');
}

/** A gate that answers each call with the next of these. */
let answer: object = {};
const gate = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
});
let client: ReturnType<typeof createClient>;
before(async () => {
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  client = createClient({ address: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`, token: 'a-token' });
});
after(() => {
  client.close();
  gate.close();
});

async function callThroughSdk(given: Answer): Promise<object> {
  answer = wireOf(given);
  try {
    return (await client.callTool('notes.read')) as object;
  } catch (error) {
    assert.ok(error instanceof ToolDenied || error instanceof ToolFailed, String(error));
    return { thrown: error.message, ...error.result };
  }
}

async function textAt(show: Show, ending: CallEnding): Promise<string> {
  const shown = await show(answerCall(ending, redactor, nowMs));
  return typeof shown === 'string' ? shown : JSON.stringify(shown);
}

for (const [door, show] of Object.entries(doors)) {
  test(`whatever the code, an agent at ${door} reads why, what else it can do and which call to name, and no recipe`, async () => {
    requirement('PIPE-9');
    for (const code of allCodes) {
      for (const ending of [...endingsOf(code, 'agent'), ...faultsOf(code, 'agent')]) {
        const text = await textAt(show, ending);
        assert.doesNotMatch(text, recipe, `${code}, ${ending.kind}`);
        assert.ok(text.includes(code), `${code}, ${ending.kind}: ${text}`);
        assert.ok(text.includes(callId), `${code}, ${ending.kind}: ${text}`);
        const told = ending.kind === 'faulted' ? [describeCode(code).meaning] : [why];
        for (const part of told) {
          // The typed door says in its own words what it does not have.
          const isOwn = door === 'typed gRPC' && code === 'UNKNOWN_TOOL';
          assert.ok(isOwn || text.includes(part), `${code}, ${ending.kind}: ${text}`);
        }
        assert.match(text, /another way|should look at it|What to do|ListAvailableTools/, `${code}, ${ending.kind}`);
      }
    }
  });

  if (door === 'MCP') continue;
  test(`whatever the code, an operator at ${door} reads which rule it was and what to change`, async () => {
    requirement('PIPE-9');
    // Nobody whom the gate does not know is an operator.
    for (const code of allCodes.filter((each) => each !== 'UNAUTHENTICATED')) {
      for (const ending of endingsOf(code, 'operator')) {
        const text = (await textAt(show, ending)).replaceAll('\\"', '"');
        assert.ok(text.includes(code), `${code}, ${ending.kind}: ${text}`);
        assert.doesNotMatch(text, /give them call/, `${code}, ${ending.kind}`);
        const isOwn = door === 'typed gRPC' && code === 'UNKNOWN_TOOL' && ending.kind === 'refused';
        if (isOwn) {
          assert.match(text, /`sallyport tool list`/);
          continue;
        }
        assert.ok(text.includes(forOperators), `${code}, ${ending.kind}: ${text}`);
        if (ending.kind === 'refused') assert.ok(text.includes(`${rule.file}:7`), `${code}: ${text}`);
      }
      for (const ending of faultsOf(code, 'operator')) {
        assert.match(await textAt(show, ending), /`sallyport (status|tool list|audit show [\w-]+)`/, code);
      }
    }
  });
}

test('a text for everyone that names a command of operators, a rule file or a pattern does not compile', () => {
  const session = 's-1';
  // @ts-expect-error a command of operators
  refuse('SESSION_ENDED', 'session', `Session ${session} was ended. \`sallyport session create\` makes one.`);
  // @ts-expect-error a command of operators
  refuse('SESSION_ENDED', 'session', 'It was ended.', { remedy: 'Run `sallyport session create`.' });
  // @ts-expect-error a rule file
  refuse('RULE_DENIES', 'a', 'No.', { remedy: 'Change tools.yaml.' });
  // @ts-expect-error a pattern
  refuse('NO_RULE_ALLOWS', 'a', 'Rule a covers $WORKSPACE/**.');
  const fail = () =>
    // @ts-expect-error a command of operators
    new ToolFailure('NOT_FOUND', `There is no session ${session}. \`sallyport session list\` shows them.`);
  assert.equal(fail().code, 'NOT_FOUND');
});
