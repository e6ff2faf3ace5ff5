import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import type { Mode } from '../call/session.ts';
import type { PathClaim, Risk } from '../call/tool.ts';
import { argumentsOf, askFirst, judgedAs, rulesOf, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { bindCall, callSha256 } from './bind-call.ts';

const word = fc.string({ maxLength: 12 });
const words = fc.array(word, { maxLength: 3 });
const claim = fc.record({ path: word, access: fc.constantFrom('read' as const, 'write' as const) });

/** Everything that a decision is tied to, each member on its own. */
interface Bound {
  readonly session: string;
  readonly tool: string;
  readonly version: string;
  readonly file: string;
  readonly args: Readonly<Record<string, string>>;
  readonly paths: readonly PathClaim[];
  readonly hosts: readonly string[];
  readonly commands: readonly string[];
  readonly apps: readonly string[];
  readonly gitOperation: string;
  readonly provider: string;
  readonly model: string;
  readonly rules: string;
  readonly askedBy: readonly string[];
  readonly approvers: readonly string[];
  readonly description: string;
  readonly risk: Risk;
  readonly mode: Mode;
  readonly summary: string;
  readonly detail: string;
  readonly undoable: boolean;
  readonly basis: string;
}

const bound: fc.Arbitrary<Bound> = fc.record({
  session: word,
  tool: word,
  version: word,
  file: word,
  args: fc.dictionary(word, word),
  paths: fc.array(claim, { maxLength: 3 }),
  hosts: words,
  commands: words,
  apps: words,
  gitOperation: word,
  provider: word,
  model: word,
  rules: word,
  askedBy: words,
  approvers: words,
  description: word,
  risk: fc.constantFrom<Risk>('low', 'high'),
  mode: fc.constantFrom<Mode>('NORMAL', 'ALERT'),
  summary: word,
  detail: word,
  undoable: fc.boolean(),
  basis: word,
});

/** One way to change each member; `more` is not empty. */
const changes: { readonly [Name in keyof Bound]: (value: Bound[Name], more: string) => Bound[Name] } = {
  session: (value, more) => value + more,
  tool: (value, more) => value + more,
  version: (value, more) => value + more,
  file: (value, more) => value + more,
  args: (value, more) => ({ ...value, key: `${value['key'] ?? ''}${more}` }),
  paths: (value, more) => [...value, { path: more, access: 'write' }],
  hosts: (value, more) => [...value, more],
  commands: (value, more) => [...value, more],
  apps: (value, more) => [...value, more],
  gitOperation: (value, more) => value + more,
  provider: (value, more) => value + more,
  model: (value, more) => value + more,
  rules: (value, more) => value + more,
  askedBy: (value, more) => [...value, more],
  approvers: (value, more) => [...value, more],
  description: (value, more) => value + more,
  risk: (value) => (value === 'low' ? 'high' : 'low'),
  mode: (value) => (value === 'NORMAL' ? 'ALERT' : 'NORMAL'),
  summary: (value, more) => value + more,
  detail: (value, more) => value + more,
  undoable: (value) => !value,
  basis: (value, more) => value + more,
};

function bind(given: Bound) {
  const {
    tool: name,
    version,
    file: fileSha256,
    description,
    risk,
    askedBy,
    approvers,
    summary,
    detail,
    undoable,
    basis,
  } = given;
  const { paths, hosts, commands, apps, gitOperation, provider, model } = given;
  const call = {
    session: sessionOf({ id: given.session }),
    tool: toolOf({ name, version, fileSha256, description, risk }),
    ...argumentsOf(given.args),
    resources: { paths, hosts, commands, apps, gitOperation, provider, model },
    mode: given.mode,
    ...judgedAs({ ...askFirst, askedBy, approvers }, rulesOf({ hash: given.rules })),
  };
  return bindCall(call, { summary, detail, undoable, basis });
}

const more = fc.string({ minLength: 1, maxLength: 6 });

for (const name of Object.keys(changes) as (keyof Bound)[]) {
  test(`another ${name} is another call: no decision about the one holds for the other`, () => {
    requirement('APPR-6');
    fc.assert(
      fc.property(bound, more, (given, addition) => {
        const change = changes[name] as (value: unknown, more: string) => unknown;
        const changed = { ...given, [name]: change(given[name], addition) };
        assert.notEqual(bind(changed).binding, bind(given).binding);
      }),
    );
  });
}

test('the same call has the same binding, in whatever order its arguments and what it touches are named', () => {
  fc.assert(
    fc.property(bound, (given) => {
      const turned = {
        ...given,
        args: Object.fromEntries(Object.entries(given.args).toReversed()),
        paths: given.paths.toReversed(),
        hosts: given.hosts.toReversed(),
        apps: given.apps.toReversed(),
      };
      assert.deepEqual(bind(turned), bind(given));
    }),
  );
});

test('the scope is what would be touched, whatever the effect and the rules; of commands also their arguments', () => {
  const inside = ['tool', 'paths', 'hosts', 'commands', 'apps', 'gitOperation', 'provider', 'model'];
  fc.assert(
    fc.property(bound, more, (given, addition) => {
      const { scopeSha256 } = bind(given);
      const within = given.commands.length === 0 ? inside : [...inside, 'args'];
      for (const name of Object.keys(changes) as (keyof Bound)[]) {
        const change = changes[name] as (value: unknown, more: string) => unknown;
        const changed = { ...given, [name]: change(given[name], addition) };
        assert.equal(bind(changed).scopeSha256 !== scopeSha256, within.includes(name), name);
      }
    }),
  );
});

test('a step of a plan stands for one tool, as it is, and one set of arguments', () => {
  const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/);
  const name = fc.stringMatching(/^[a-z]+\.[a-z]+$/);
  fc.assert(
    fc.property(name, sha256, name, sha256, (tool, args, otherTool, otherArgs) => {
      fc.pre(tool !== otherTool || args !== otherArgs);
      const { definition } = toolOf({ name: tool });
      const planned = callSha256(definition, args);
      assert.notEqual(planned, callSha256(toolOf({ name: otherTool }).definition, otherArgs));
      for (const change of [
        { version: '9' },
        { fileSha256: args },
        { description: 'other' },
        { risk: 'high' },
      ] as const) {
        assert.notEqual(planned, callSha256({ ...definition, ...change }, args));
      }
    }),
  );
});
