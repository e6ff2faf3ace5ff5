import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import type { Rules } from '../../call/verdict.ts';
import { defaultLimits } from './read-limits.ts';
import { loadRules } from './load-rules.ts';
import { ask, makeFolder, problemsOf, rulesOf, world, writeRules } from '../test-world.ts';

const load = (folder: string): Rules => loadRules({ ...world, folder });
const rule = '{ id: a, effect: allow, tools: [x.y] }';

test('a rule says whose new tools are taken in without asking', () => {
  const rules = rulesOf(`
  - { id: own, effect: allow, tools: ["own-*"], origins: [executable], accept_new: true }
  - { id: named, effect: allow, tools: [late.tool], accept_new: true, modes: [ALERT] }
  - { id: off, effect: allow, tools: [other.tool], accept_new: false }
`);
  assert.equal(rules.acceptsNew('own-x', 'executable'), true);
  assert.equal(rules.acceptsNew('own-x', 'upstream'), false);
  assert.equal(rules.acceptsNew('own-x'), false);
  assert.equal(rules.acceptsNew('late.tool', 'upstream'), true);
  assert.equal(rules.acceptsNew('other.tool', 'executable'), false);
  assert.equal(rulesOf('  []').acceptsNew('x', 'executable'), false);
});

test('without a folder, without files or with empty ones nothing is allowed', () => {
  requirement('PIPE-2');
  const absent = join(makeFolder(), 'not-there');
  for (const folder of [
    absent,
    writeRules({}),
    writeRules({ tools: '', limits: '' }),
    writeRules({ tools: '# none\n' }),
  ]) {
    const rules = load(folder);
    assert.equal(rules.count, 0);
    assert.equal(rules.judge(ask('files.read', ['/home/ada/work/a'])).effect, 'deny');
    assert.equal(rules.judge(ask('files.read', [])).rule.id, 'default-deny');
    assert.equal(rules.limits.maxRunning, 64);
    assert.deepEqual(rules.limits.rates[0]?.limits[0], { windowMs: 60_000, calls: 20 });
  }
});

test('what is in place of a rule file but is not one is named', () => {
  const folder = writeRules({});
  mkdirSync(join(folder, 'tools.yaml'));
  execFileSync('mkfifo', [join(folder, 'limits.yaml')]);
  const message = /tools\.yaml:1:1 {2}.*\n.*limits\.yaml:1:1 {2}.*not a regular file/;
  assert.throws(() => load(folder), { name: 'ConfigError', message });
  const file = join(makeFolder(), 'file');
  writeFileSync(file, '');
  assert.throws(() => load(file), { name: 'ConfigError', message: /tools\.yaml:1:1 {2}cannot be read: ENOTDIR/ });
});

test('the hash follows every byte of the files and nothing else', () => {
  const tools = `version: 1\nrules:\n  - ${rule}\n`;
  const hashOf = (files: { tools?: string; limits?: string }): string => load(writeRules(files)).hash;
  const hashes = [
    hashOf({}),
    hashOf({ tools }),
    hashOf({ tools: `${tools}#` }),
    hashOf({ tools, limits: '' }),
    hashOf({ tools, limits: 'version: 1\n' }),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
  assert.equal(hashOf({ tools }), hashes[1]);
  assert.match(hashes[0] ?? '', /^[0-9a-f]{64}$/);
});

test('limits come out in the units of the model, and what is left out has its default', () => {
  const limits = `version: 1
rates:
  - { tools: ["files.*", x.y], per_minute: 5, per_day: 7 }
repeats: { warn_at: 2, refuse_at: 4, window_minutes: 3 }
quarantine: { at: 9, window_minutes: 5, denied: 3, error: 0, timeout: 1 }
approvals: { expire_seconds: 60, max_pending: 7 }
max_running: 8
max_argument_bytes: 1000
undo_days: 2
`;
  assert.deepEqual(load(writeRules({ limits })).limits, {
    rates: [
      {
        tools: ['files.*', 'x.y'],
        limits: [
          { windowMs: 60_000, calls: 5 },
          { windowMs: 86_400_000, calls: 7 },
        ],
      },
    ],
    teamRates: defaultLimits.teamRates,
    anomalies: defaultLimits.anomalies,
    teamAnomalies: defaultLimits.teamAnomalies,
    repeats: { warnAt: 2, delayAt: Infinity, delayMs: 1000, refuseAt: 4, refuseChangesAt: 4, windowMs: 180_000 },
    quarantine: { at: 9, windowMs: 300_000, weights: { denied: 3, error: 0, timeout: 1 } },
    approvals: { expireAfterMs: 60_000, remindAfterMs: 60_000, maxPending: 7 },
    maxRunning: 8,
    maxRunningPerSession: 8,
    maxArgumentBytes: 1000,
    undoForMs: 2 * 86_400_000,
  });
});

test('a file with a byte order mark and Windows line ends is read as usual', () => {
  const tools = `\ufeffversion: 1\r\nrules:\r\n  - ${rule}\r\n`;
  assert.equal(load(writeRules({ tools })).count, 1);
  assert.match(problemsOf({ tools: tools.replace('allow', 'alow') })[0] ?? '', /^tools\.yaml:3:/);
});

test('a workspace with glob characters in its name opens itself only', () => {
  const rules = rulesOf('  - { id: a, effect: allow, tools: [files.read], paths: ["$WORKSPACE/**"] }\n', {
    workspace: '/srv/a*b',
  });
  assert.equal(rules.judge(ask('files.read', ['/srv/a*b/x'])).effect, 'allow');
  assert.equal(rules.judge(ask('files.read', ['/srv/aXb/x'])).effect, 'deny');
  const { forOperators: remedy = '' } = rules.judge(ask('files.write', ['/srv/a*b/x']));
  assert.ok(remedy.endsWith('paths: ["$WORKSPACE/x"]}'), remedy);
});

test('what is left out of anomalies has its shipped value, and false turns a detector off', () => {
  const limits = `anomalies:
  quiet_minutes: 3
  call_spike: false
  combinations: [{ id: a-b, tools: [x.y, ['p.*', q]], within: 4, respond: [quarantine, raise_mode] }]
team_anomalies: { combinations: false, permission_escalation: { attempts: 2, window_minutes: 1 } }
`;
  const { anomalies, teamAnomalies } = load(writeRules({ limits })).limits;
  const { callSpike: _callSpike, ...others } = defaultLimits.anomalies;
  assert.deepEqual(anomalies, {
    ...others,
    quietMs: 180_000,
    combinations: [{ id: 'a-b', tools: [['x.y'], ['p.*', 'q']], within: 4, respond: ['quarantine', 'raise_mode'] }],
  });
  assert.deepEqual(teamAnomalies, {
    ...defaultLimits.teamAnomalies,
    combinations: [],
    permissionEscalation: { attempts: 2, windowMs: 60_000, respond: [] },
  });
});
