import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { ConfigError } from '../model/fault.ts';
import type { Rules } from '../model/verdict.ts';
import { loadRules } from './load-rules.ts';
import { ask, makeFolder, rulesOf, world, writeRules } from './test-world.ts';

const load = (folder: string): Rules => loadRules({ ...world, folder });

/** The problems of a load, each as `file:line:column  message` with the folder cut off. */
function problemsOf(files: { readonly tools?: string | Uint8Array; readonly limits?: string }): string[] {
  const folder = writeRules(files);
  let caught: unknown;
  try {
    load(folder);
  } catch (error) {
    caught = error;
  }
  assert.ok(caught instanceof ConfigError, 'the rules should not load');
  const [head, ...lines] = caught.message.split('\n');
  assert.equal(head, `The rules in ${folder} cannot be used.`);
  return lines.map((line) => line.replace(`${folder}/`, ''));
}

const rule = '{ id: a, effect: allow, tools: [x.y] }';
const ruleWith = (more: string): string => `version: 1\nrules:\n  - { id: a, effect: allow, tools: [x.y], ${more} }\n`;

/** A text in which each ▸ stands before a mistake, and the messages in the same order. */
type Mistakes = readonly [what: string, marked: string, ...messages: RegExp[]];

const toolsMistakes: readonly Mistakes[] = [
  // YAML itself
  ['a tab as indent', 'version: 1\nrules:\n▸\t- a\n', /^a tab cannot indent; use spaces$/],
  ['a quote that does not end', 'version: 1\nrules: "x\n▸', /^missing closing "quote$/],
  ['a bracket that does not end', 'version: 1\nrules: [x\n▸', /^flow sequence in block/],
  ['a key twice', `version: 1\nrules: []\n▸version: 1\n`, /^this key stands here twice$/],
  ['a key twice in a rule', ruleWith('▸id: b'), /^this key stands here twice$/],
  ['an anchor', 'version: &v ▸1\nrules: []\n', /^anchors \("&name"\) are not allowed$/],
  ['an alias', `version: 1\nrules:\n  - &r ▸${rule}\n  - ▸*r\n`, /^anchors/, /^aliases \("\*name"\) are not allowed/],
  ['a pattern that YAML takes for an alias', ruleWith('agents: [▸*x]'), /quote the text if it is a pattern$/],
  ['a merge key', `version: 1\nrules:\n  - ▸{ ▸<<: ${rule} }\n`, /^a rule lacks/, /^unknown key <</],
  ['a tag', 'version: !!int ▸1\nrules: []\n', /^tags \("!…"\) are not allowed$/],
  ['a tag of its own', 'version: 1\nrules: ▸!rules []\n', /^tags \("!…"\) are not allowed$/],
  ['a directive', '%YAML 1.1\n---\n▸version: 1\nrules: []\n', /^directives/],
  ['two documents', 'version: 1\nrules: []\n▸---\nversion: 1\n', /^a second document/],
  ['more than 1 MB', `▸# ${'x'.repeat(1024 * 1024)}`, /^cannot be read: is larger than 1 MB$/],

  // The file as a whole
  ['a list', '▸- 1\n', /^tools\.yaml must be a mapping with the keys version, rules$/],
  ['just text', '▸allow everything\n', /^tools\.yaml must be a mapping/],
  ['no version', '▸rules: []\n', /^tools\.yaml lacks version$/],
  ['another version', 'version: ▸2\nrules: []\n', /^version must be a whole number from 1 to 1$/],
  ['no list of rules', 'version: 1\nrules: ▸none\n', /^rules must be a list/],
  ['nothing where the rules go', 'version: 1\nrules:▸\n', /^rules must be a list/],
  [
    'an unknown key',
    'version: 1\n▸rule: []\nrules: []\n',
    /^unknown key rule in tools\.yaml; did you mean rules\? Allowed here: version, rules$/,
  ],

  // One rule
  ['a rule that is text', 'version: 1\nrules: [▸allow]\n', /^a rule must be a mapping with the keys id, /],
  ['parts missing', 'version: 1\nrules:\n  - ▸id: a\n', /^a rule lacks effect, tools$/],
  [
    'a misspelt key',
    'version: 1\nrules:\n  - id: a\n    ▸efect: allow\n    effect: deny\n    tools: [x]\n',
    /^unknown key efect in a rule; did you mean effect\? Allowed here: id, effect, tools, who, /,
  ],
  ['a key far from any other', ruleWith('▸zzzzzzzzzz: 1'), /^unknown key zzzzzzzzzz in a rule\. Allowed here: id/],
  ['an id with capitals', 'version: 1\nrules: [{ id: ▸A, effect: deny, tools: [x] }]\n', /^id may hold/],
  ['an id that is a number', 'version: 1\nrules: [{ id: ▸1, effect: deny, tools: [x] }]\n', /^id must be text/],
  [
    'an id of the gate itself',
    'version: 1\nrules: [{ id: ▸default-deny, effect: deny, tools: [x] }]\n',
    /^id default-deny is kept for the gate itself$/,
  ],
  ['an id twice', `version: 1\nrules:\n  - ${rule}\n  - ▸${rule}\n`, /^id a is taken by the rule in line 3$/],
  [
    'a misspelt effect',
    'version: 1\nrules: [{ id: a, effect: ▸alow, tools: [x] }]\n',
    /^effect must be one of allow, require_approval, deny; did you mean allow\?$/,
  ],
  ['tools that are no list', 'version: 1\nrules: [{ id: a, effect: deny, tools: ▸x.y }]\n', /^tools must be a list/],
  ['no tools at all', 'version: 1\nrules: [{ id: a, effect: deny, tools: ▸[] }]\n', /^tools is empty/],
  ['a tool that is no name', 'version: 1\nrules: [{ id: a, effect: deny, tools: [▸x/y] }]\n', /^a tool is named like/],
  ['an unknown caller', ruleWith('who: [▸human]'), /^who must be one of agent, operator$/],
  ['a mode in small letters', ruleWith('modes: [▸normal]'), /^modes must be one of .*; did you mean NORMAL\?$/],
  ['an unknown access', ruleWith('access: [▸reed]'), /^access must be one of read, write; did you mean read\?$/],
  ['a bad path', ruleWith('paths: ["/ok", ▸"../x"]'), /^this pattern must start with/],
  ['two bad paths', ruleWith('paths: [▸"/{a,b}", ▸7]'), /^this pattern has a "\{"/, /^paths must be text/],
  ['NUL in a path', ruleWith('paths: [▸"/a\\0"]'), /^this pattern contains a control character$/],
  ['a bad exception', ruleWith('except_paths: [▸"~/x"]'), /^this pattern starts with "~"; write \$HOME/],
  ['another word for waived', ruleWith('approval: ▸none'), /^approval must be one of waived$/],
  [
    'a waiver of a denial',
    'version: 1\nrules: [{ id: a, effect: deny, tools: [x], approval: ▸waived }]\n',
    /^approval: waived goes with effect: allow only$/,
  ],
  ['an empty reason', ruleWith('reason: ▸""'), /^reason is empty$/],

  // Examples
  ['an example without tool', ruleWith('match: [▸{ path: /a }]'), /^an example lacks tool$/],
  [
    'an example with an unknown key',
    ruleWith('match: [{ tool: x.y, ▸paths: /a }]'),
    /^unknown key paths in an example; did you mean path\?/,
  ],
  [
    'an example path with ..',
    ruleWith('match: [▸{ tool: x.y, path: /a/../b }]'),
    /^example of rule a: the path must be absolute/,
  ],
];

const limitsMistakes: readonly Mistakes[] = [
  ['no version', '▸max_running: 1\n', /^limits\.yaml lacks version$/],
  ['an unknown key', 'version: 1\n▸max_runing: 1\n', /did you mean max_running\?/],
  ['zero at once', 'version: 1\nmax_running: ▸0\n', /^max_running must be a whole number from 1 to/],
  ['half a call', 'version: 1\nmax_running: ▸1.5\n', /^max_running must be a whole number/],
  ['a number in quotes', 'version: 1\nmax_running: ▸"1"\n', /^max_running must be a whole number/],
  ['no end', 'version: 1\nmax_argument_bytes: ▸.inf\n', /^max_argument_bytes must be/],
  ['more than fits', 'version: 1\nmax_argument_bytes: ▸999999999\n', /^max_argument_bytes must be/],
  [
    'more per session than at all',
    'version: 1\nmax_running: 2\nmax_running_per_session: ▸3\n',
    /^max_running_per_session is above max_running, 2$/,
  ],
  ['a rate without window', 'version: 1\nrates:\n  - ▸tools: [x]\n', /^a rate needs per_minute/],
  ['a rate without tools', 'version: 1\nrates:\n  - ▸per_day: 1\n', /^a rate lacks tools$/],
  ['a rate of zero', 'version: 1\nrates:\n  - { tools: [x], per_day: ▸0 }\n', /^per_day must be/],
  ['half of repeats', 'version: 1\nrepeats: ▸{ warn_at: 3 }\n', /^repeats lacks refuse_at, window_minutes$/],
  [
    'a warning after the refusal',
    'version: 1\nrepeats: { warn_at: ▸6, refuse_at: 5, window_minutes: 10 }\n',
    /^warn_at is above refuse_at$/,
  ],
  [
    'half of quarantine',
    'version: 1\nquarantine: ▸{ at: 3 }\n',
    /^quarantine lacks window_minutes, denied, error, timeout$/,
  ],
  [
    'a quarantine at nothing',
    'version: 1\nquarantine: { at: ▸0, window_minutes: 10, denied: 1, error: 0, timeout: ▸-1 }\n',
    /^at must be a whole number from 1 to/,
    /^timeout must be a whole number from 0 to/,
  ],
];

function checkMistakes(name: 'tools' | 'limits', [what, marked, ...messages]: Mistakes): void {
  const expected = marked
    .split('▸')
    .slice(0, -1)
    .map((_, at, parts) => {
      const lines = parts
        .slice(0, at + 1)
        .join('')
        .split('\n');
      return `${name}.yaml:${lines.length}:${(lines.at(-1) ?? '').length + 1}`;
    });
  const problems = problemsOf({ [name]: marked.replaceAll('▸', '') }).map((line) => line.split('  '));
  assert.deepEqual(
    problems.map(([place]) => place),
    expected,
    what,
  );
  for (const [at, message] of messages.entries()) assert.match(problems[at]?.[1] ?? '', message, what);
  assert.equal(messages.length, expected.length, what);
}

test('every mistake in tools.yaml is named with file, line and column', () => {
  for (const mistakes of toolsMistakes) checkMistakes('tools', mistakes);
});

test('every mistake in limits.yaml is named with file, line and column', () => {
  for (const mistakes of limitsMistakes) checkMistakes('limits', mistakes);
});

test('what is no text, or nested without end, is refused and does not crash the start', () => {
  const noText = problemsOf({ tools: Uint8Array.of(0x76, 0xff, 0xfe) });
  assert.deepEqual(noText, ['tools.yaml:1:1  is not UTF-8 text']);
  for (const opening of ['[', '{ a: ', '- ']) {
    const [first = ''] = problemsOf({ tools: `version: 1\nrules:\n  ${opening.repeat(4000)}` });
    assert.match(first, /^tools\.yaml:3:\d+ {2}is nested too deeply$/);
  }
});

test('all mistakes of both files are told at once, from top to bottom', () => {
  const tools = `version: 3
rules:
  - id: a
    effect: forbid
    tools: [x.y]
    paths: [relative]
  - id: b
    effect: deny
    tools: [x.y]
    modes: [NIGHT]
    not_match:
      - { tool: x.y }
  - id: c
    effect: deny
    tools: [x.y]
    match:
      - { tool: other.tool }
`;
  const places = problemsOf({ tools, limits: 'version: 1\nmax_running: many\n' }).map((line) => line.split('  ')[0]);
  assert.deepEqual(places, [
    'tools.yaml:1:10',
    'tools.yaml:4:13',
    'tools.yaml:6:13',
    'tools.yaml:10:13',
    'tools.yaml:17:9',
    'limits.yaml:2:14',
  ]);
});

test('a long list of mistakes is cut, and says how many are left', () => {
  const tools = `version: 1\nrules:\n${'  - {}\n'.repeat(60)}`;
  const problems = problemsOf({ tools });
  assert.equal(problems.length, 51);
  assert.equal(problems.at(-1), 'and 10 more');
});

const examples: readonly (readonly [rule: string, problem: RegExp | undefined])[] = [
  // What an example leaves out may be anything
  ['effect: allow, match: [{ tool: x.y }]', undefined],
  ['effect: allow, who: [operator], modes: [ALERT], agents: [z*], match: [{ tool: x.y }]', undefined],
  ['effect: allow, paths: [/a/*], match: [{ tool: x.y, path: /a/b }]', undefined],
  ['effect: allow, paths: [/a/*], access: [write], match: [{ tool: x.y, path: /a/b }]', undefined],
  ['effect: allow, paths: ["$WORKSPACE/**"], match: [{ tool: x.y, path: $WORKSPACE }]', undefined],
  ['effect: allow, paths: [/a/*], not_match: [{ tool: x.y, path: /a/b/c }]', undefined],
  ['effect: allow, paths: [/a/*], not_match: [{ tool: x.y }]', undefined],
  ['effect: deny, paths: [/a/*], match: [{ tool: x.y, path: /A/B }]', undefined],
  ['effect: allow, paths: [/a/*], not_match: [{ tool: x.y, path: /A/b }]', undefined],
  ['effect: allow, agents: [z*], not_match: [{ tool: x.y, agent: y }]', undefined],
  ['effect: allow, who: [operator], not_match: [{ tool: x.y, who: agent }]', undefined],

  // Those that do not come out as written
  ['effect: allow, match: [{ tool: x.z }]', /it must match, but the rule does not name the tool x\.z$/],
  ['effect: allow, who: [operator], match: [{ tool: x.y, who: agent }]', /but the rule is not for agent$/],
  ['effect: allow, agents: [z*], match: [{ tool: x.y, agent: y }]', /but the rule is not for y$/],
  ['effect: allow, modes: [ALERT], match: [{ tool: x.y, mode: NORMAL }]', /but the rule is not for mode NORMAL$/],
  ['effect: allow, paths: [/a/*], match: [{ tool: x.y }]', /looks at paths and the example has none$/],
  ['effect: allow, paths: [/a/*], match: [{ tool: x.y, path: /b }]', /does not cover \/b$/],
  [
    'effect: allow, paths: [/a/*], access: [read], match: [{ tool: x.y, path: /a/b, access: write }]',
    /does not cover write access to \/a\/b$/,
  ],
  ['effect: allow, paths: [/a/*], except_paths: [/a/b], match: [{ tool: x.y, path: /a/b }]', /does not cover \/a\/b$/],
  ['effect: allow, not_match: [{ tool: x.y }]', /it must not match, but it does$/],
  ['effect: allow, paths: [/a/*], access: [write], not_match: [{ tool: x.y, path: /a/b }]', /must not match/],
  ['effect: allow, modes: [ALERT], not_match: [{ tool: x.y }]', /must not match/],
];

test('a rule loads only when its examples come out as written', () => {
  requirement('MODE-6');
  for (const [text, message] of examples) {
    const tools = `version: 1\nrules:\n  - { id: a, tools: [x.y], ${text} }\n`;
    if (message === undefined) {
      assert.equal(load(writeRules({ tools })).count, 1, text);
      continue;
    }
    const [problem = '', ...others] = problemsOf({ tools });
    assert.deepEqual(others, [], text);
    assert.match(problem, message, text);
    const column = 1 + (tools.split('\n')[2]?.indexOf('{ tool') ?? -1);
    assert.ok(problem.startsWith(`tools.yaml:3:${column}  example of rule a: `), problem);
  }
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

test('what stands in place of a rule file and is none is named', () => {
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
max_running: 8
max_argument_bytes: 1000
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
    repeats: { warnAt: 2, refuseAt: 4, windowMs: 180_000 },
    quarantine: { at: 9, windowMs: 300_000, weights: { denied: 3, error: 0, timeout: 1 } },
    maxRunning: 8,
    maxRunningPerSession: 8,
    maxArgumentBytes: 1000,
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
  const { remedy = '' } = rules.judge(ask('files.write', ['/srv/a*b/x']));
  assert.ok(remedy.endsWith('paths: ["$WORKSPACE/x"]}'), remedy);
});
