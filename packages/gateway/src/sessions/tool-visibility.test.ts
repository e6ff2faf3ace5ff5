import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultSettings } from '../call/organisation.ts';
import type { Organisation, Permission } from '../call/organisation.ts';
import { modes } from '../call/session.ts';
import type { Mode, Session } from '../call/session.ts';
import type { AnyTool } from '../call/tool.ts';
import type { ModeGate } from '../modes/mode-refusal.ts';
import { isVisible } from '../registry/registry.ts';
import { checkLease } from '../stages/check-lease.ts';
import { checkMode } from '../stages/check-mode.ts';
import { checkPermission } from '../stages/check-permission.ts';
import { argumentsOf, callOf, clock, leaseOf, nowMs, rulesOf, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { ToolVisibility } from './tool-visibility.ts';

const tools: readonly AnyTool[] = [
  toolOf({ name: 'files.read' }),
  toolOf({ name: 'files.write', mutates: true, allowedModes: modes.filter((mode) => mode !== 'LOCKDOWN') }),
  toolOf({ name: 'git.log', allowedModes: ['NORMAL', 'ALERT'] }),
  toolOf({ name: 'mode.set', audience: 'operator' }),
];

interface World {
  readonly mode: Mode;
  readonly organisation: Organisation;
  readonly closedModes: readonly Mode[];
  readonly opensByName: readonly string[];
}

function open(
  { mode, organisation, closedModes, opensByName }: World,
  mayOpen: (tool: string) => boolean = () => true,
) {
  const store = { readMode: () => mode, readOrganisation: () => organisation };
  const gate: ModeGate = {
    isClosed: (asked) => closedModes.includes(asked),
    isOpenedByName: ({ name }) => opensByName.includes(name),
  };
  const { workspace } = rulesOf();
  const rulesFor = () => ({
    hash: '',
    workspace,
    mayOpen: ({ tool }: { tool: { name: string } }) => mayOpen(tool.name),
  });
  return { store, gate, visibility: new ToolVisibility({ store, rulesFor, modes: gate }) };
}

const names = fc.constantFrom('files.read', 'files.write', 'git.log', 'mode.set');
const patterns = fc.constantFrom('*', 'files.*', 'files.read', 'git.*', 'mode.set');
const sessions: fc.Arbitrary<Session> = fc
  .record({
    principal: fc.constantFrom('agent' as const, 'operator' as const),
    agent: fc.constantFrom('ada', 'bob'),
    tools: fc.array(patterns, { maxLength: 2 }),
    end: fc.constantFrom({}, { endedAtMs: nowMs - 1 }, { expiresAtMs: nowMs }, { expiresAtMs: nowMs + 1 }),
  })
  .map(({ principal, agent, tools: leased, end }) =>
    sessionOf({ principal, agent, lease: leaseOf({ tools: leased, ...end }) }),
  );
const permissions: fc.Arbitrary<Permission> = fc.record({
  level: fc.constant('agent' as const),
  subject: fc.constant('ada'),
  tools: patterns,
  effect: fc.constantFrom('granted' as const, 'revoked' as const),
  by: fc.constant('olga'),
  atMs: fc.constant(0),
});
const subjects = { organisation: '', team: 'web', agent: 'ada' } as const;
const organisations: fc.Arbitrary<Organisation> = fc
  .record({
    profile: fc.constantFrom('personal' as const, 'team' as const),
    isMember: fc.boolean(),
    said: fc.array(fc.tuple(fc.constantFrom('organisation' as const, 'team' as const, 'agent' as const), permissions), {
      maxLength: 3,
    }),
  })
  .map(({ profile, isMember, said }) => ({
    settings: { ...defaultSettings, profile },
    teams: [{ name: 'web' }],
    members: isMember ? [{ kind: 'agent', name: 'ada', team: 'web', role: 'worker', addedAtMs: 0 }] : [],
    permissions: said.map(([level, permission]) => ({ ...permission, level, subject: subjects[level] })),
  }));
const worlds: fc.Arbitrary<World> = fc.record({
  mode: fc.constantFrom(...modes),
  organisation: organisations,
  closedModes: fc.subarray([...modes]),
  opensByName: fc.array(names, { maxLength: 2 }),
});

test('a tool is shown exactly when lease, organisation and mode let a call of it pass', async () => {
  await fc.assert(
    fc.asyncProperty(sessions, worlds, fc.constantFrom(...tools), async (session, world, tool) => {
      const { store, gate, visibility } = open(world);
      const call = { ...callOf(), session, tool, ...argumentsOf() };
      const stages = [checkLease, checkPermission(store.readOrganisation), checkMode(store, gate)];
      let passes = isVisible(tool, session.principal);
      for (const stage of stages) passes &&= (await stage.run(call as never, clock)) === undefined;
      assert.equal(visibility.isShown(tool, session, nowMs), passes);
    }),
    { numRuns: 2000 },
  );
});

const calm: World = {
  mode: 'NORMAL',
  organisation: { settings: defaultSettings, teams: [], members: [], permissions: [] },
  closedModes: ['LOCKDOWN'],
  opensByName: ['files.read'],
};

test('an agent is not shown what no rule opens; a person is, to see that a rule is missing', () => {
  const { visibility } = open(calm, (name) => name === 'files.read');
  const shown = (session: Session) =>
    tools.filter((tool) => visibility.isShown(tool, session, nowMs)).map(({ definition }) => definition.name);
  assert.deepEqual(shown(sessionOf()), ['files.read']);
  assert.deepEqual(shown(sessionOf({ principal: 'operator' })), ['files.read', 'files.write', 'git.log', 'mode.set']);
});

test('the rules are asked with the standing that the organisation gives', () => {
  const organisation: Organisation = {
    ...calm.organisation,
    members: [{ kind: 'agent', name: 'ada', team: 'web', role: 'manager', addedAtMs: 0 }],
  };
  const asked: unknown[] = [];
  const visibility = new ToolVisibility({
    store: { readMode: () => 'NORMAL', readOrganisation: () => organisation },
    modes: { isClosed: () => false, isOpenedByName: () => false },
    rulesFor: () => ({ ...rulesOf(), mayOpen: ({ roles, teams }) => asked.push([roles, teams]) > 0 }),
  });
  for (const tool of tools.slice(0, 1)) visibility.isShown(tool, sessionOf(), nowMs);
  assert.deepEqual(asked, [[['manager'], ['web']]]);
});

test('a mode that closes everything leaves the schema of a tool to be read, and a revocation does not', () => {
  const [read, write] = tools as [AnyTool, AnyTool];
  const closed = open({ ...calm, mode: 'LOCKDOWN' }).visibility;
  assert.deepEqual(
    [closed.isShown(read, sessionOf(), nowMs), closed.isShown(write, sessionOf(), nowMs)],
    [true, false],
  );
  assert.equal(closed.isEntitled(write, sessionOf(), nowMs), true);
  const said = {
    level: 'agent',
    subject: 'ada',
    tools: 'files.write',
    effect: 'revoked',
    by: 'olga',
    atMs: 0,
  } as const;
  const revoked = open({ ...calm, organisation: { ...calm.organisation, permissions: [said] } }).visibility;
  assert.equal(revoked.isEntitled(write, sessionOf(), nowMs), false);
});
