import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { problemsOf } from '../test-world.ts';

const rule = '{ id: a, effect: allow, tools: [x.y] }';
const ruleWith = (more: string): string => `version: 1\nrules:\n  - { id: a, effect: allow, tools: [x.y], ${more} }\n`;

/** A text in which each ▸ stands before a mistake, and the messages in the same order. */
type Mistakes = readonly [what: string, marked: string, ...messages: RegExp[]];

const toolsMistakes: readonly Mistakes[] = [
  // YAML itself
  ['a tab as indent', 'version: 1\nrules:\n▸\t- a\n', /^a tab cannot indent; use spaces$/],
  ['a quote that does not end', 'version: 1\nrules: "x▸', /^the text ends within quotes; close them$/],
  ['a quote that ends too late', 'version: 1\nrules: "x\n▸version: "1"\n', /^quotes or brackets are still open here/],
  ['a bracket that does not end', 'version: 1\nrules: [x▸', /^the text ends within brackets; close them/],
  ['a missing comma', 'version: 1\nrules: ["a" ▸"b"]\n', /^a comma is missing here$/],
  ['a comma after nothing', 'version: 1\nrules: [▸, a]\n', /^there is nothing before this comma$/],
  ['an item out of line', 'version: 1\nrules:\n  - a: 1\n   ▸- b: 2\n', /^this item is not indented like/],
  ['a key out of line', 'version: 1\n tools▸: []\n', /^this cannot stand here; look at the indentation/],
  ['text with a colon', 'version: 1▸: 2\n', /^this cannot stand here; .*put text with signs in quotes$/],
  ['a key without a colon', 'version: 1\nrules\n▸', /^a key needs ":" behind it, on the same line$/],
  ['a mapping after a list', '- a\n▸version: 1\n', /^this does not go on with what stands before/],
  ['a star', 'version: 1\nrules: [*▸]', /^a pattern that begins with \* needs quotes$/],
  ['an unknown escape', 'version: "\\▸q"\n', /^there is no such escape; within "…" write \\\\ for \\, or use '…'$/],
  ['a character that cannot be seen', 'version: ▸\u0001\n', /^a character that cannot be seen/],
  ['many levels', `rules: ${'['.repeat(99)}▸[[`, /^is nested too deeply$/],
  ['a key twice', `version: 1\nrules: []\n▸version: 1\n`, /^this key stands here twice$/],
  ['a key twice in a rule', ruleWith('▸id: b'), /^this key stands here twice$/],
  ['an anchor', 'version: ▸&v 1\nrules: []\n', /^anchors \("&name"\) are not allowed$/],
  ['an alias', `version: 1\nrules:\n  - ▸&r ${rule}\n  - ▸*r\n`, /^anchors/, /^aliases \("\*name"\) are not allowed/],
  ['a pattern that YAML takes for an alias', ruleWith('agents: [▸*x]'), /quote the text if it is a pattern$/],
  ['a merge key', `version: 1\nrules:\n  - ▸{ ▸<<: ${rule} }\n`, /^a rule lacks/, /^unknown key <</],
  ['a tag', 'version: ▸!!int 1\nrules: []\n', /^tags \("!…"\) are not allowed$/],
  ['a tag of its own', 'version: 1\nrules: ▸!rules []\n', /^tags \("!…"\) are not allowed$/],
  ['a directive', '%YAML 1.1\n---\n▸version: 1\nrules: []\n', /^directives/],
  ['a directive that nobody knows', '%NEW 1\n---\n▸version: 1\nrules: []\n', /^directives/],
  ['a key that is no text', 'version: 1\nrules: []\n? ▸[a]\n: 1\n', /^a key must be text$/],
  ['two documents', 'version: 1\nrules: []\n▸---\nversion: 1\n', /^a second document/],
  ['more than 1 MB', `▸# ${'x'.repeat(1024 * 1024)}`, /^cannot be read: is larger than 1 MB$/],

  // The file as a whole
  ['a list', '▸- 1\n', /^tools\.yaml must be a mapping with the keys version, rules, tools$/],
  ['just text', '▸allow everything\n', /^tools\.yaml must be a mapping/],
  ['another version', 'version: ▸2\nrules: []\n', /^version must be a whole number from 1 to 1$/],
  ['no list of rules', 'version: 1\nrules: ▸none\n', /^rules must be a list/],
  ['nothing where the rules go', 'version: 1\nrules▸:\n', /^rules must be a list/],
  [
    'an unknown key',
    'version: 1\n▸rule: []\nrules: []\n',
    /^unknown key rule in tools\.yaml; did you mean rules\? Allowed here: version, rules, tools$/,
  ],

  // One rule
  ['a rule that is text', 'version: 1\nrules: [▸allow]\n', /^a rule must be a mapping with the keys id, /],
  ['parts missing', 'version: 1\nrules:\n  - ▸id: a\n', /^a rule lacks effect, tools$/],
  [
    'a misspelt key',
    'version: 1\nrules:\n  - id: a\n    ▸efect: allow\n    effect: deny\n    tools: [x]\n',
    /^unknown key efect in a rule; did you mean effect\? Allowed here: id, effect, tools, origins, who, /,
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
  ['tools that are not a list', 'version: 1\nrules: [{ id: a, effect: deny, tools: ▸x.y }]\n', /^tools must be a list/],
  ['no tools at all', 'version: 1\nrules: [{ id: a, effect: deny, tools: ▸[] }]\n', /^tools is empty/],
  ['a tool that is no name', 'version: 1\nrules: [{ id: a, effect: deny, tools: [▸x/y] }]\n', /^a tool is named like/],
  ['an unknown caller', ruleWith('who: [▸human]'), /^who must be one of agent, operator$/],
  ['a mode in small letters', ruleWith('modes: [▸normal]'), /^modes must be one of .*; did you mean NORMAL\?$/],
  ['an unknown access', ruleWith('access: [▸reed]'), /^access must be one of read, write; did you mean read\?$/],
  ['a bad path', ruleWith('paths: ["/ok", ▸"../x"]'), /^this pattern must start with/],
  ['two bad paths', ruleWith('paths: [▸"/{a,b}", ▸7]'), /^this pattern has a "\{"/, /^paths must be text/],
  ['NUL in a path', ruleWith('paths: [▸"/a\\0"]'), /^this pattern contains a control character$/],
  ['a bad exception', ruleWith('except_paths: [▸"~/x"]'), /^this pattern starts with "~"; write \$HOME/],
  ['a bad exception of hosts', ruleWith('except_hosts: [▸"http://a.c"]'), /^a host is named like/],
  ['another word for waived', ruleWith('approval: ▸none'), /^approval must be one of waived, waived_below_high$/],
  [
    'a waiver of a denial',
    'version: 1\nrules: [{ id: a, effect: deny, tools: [x], approval: ▸waived }]\n',
    /^approval: waived goes with effect: allow only$/,
  ],
  [
    'approvers of a denial',
    'version: 1\nrules: [{ id: a, effect: deny, tools: [x], approvers: ▸[rev] }]\n',
    /^approvers do not go with effect: deny$/,
  ],
  [
    'approvers where nobody is asked',
    ruleWith('approval: waived, approvers: ▸[rev]'),
    /^approvers do not go with appr/,
  ],
  [
    'approvers of calls of people',
    ruleWith('who: [operator], approvers: ▸[rev]'),
    /^approvers decide about calls of ag/,
  ],
  ['approvers by pattern', ruleWith('approvers: [rev, ▸"*"]'), /^approvers are agents by their full names/],
  ['no approvers', ruleWith('approvers: ▸[]'), /^approvers is empty/],
  ['an empty reason', ruleWith('reason: ▸""'), /^reason is empty$/],

  // Things other than paths
  ['a command with a pipe', ruleWith('commands: [▸"a | b"]'), /^this pattern has "\|" outside quotes/],
  ['a command by a relative path', ruleWith('commands: [git, ▸./x]'), /^this pattern must name the program alone/],
  ['a host with a scheme', ruleWith('hosts: [a.com, ▸"https://a.com"]'), /^a host is named like example\.com/],
  ['a host by pattern', ruleWith('hosts: [▸"a.*"]'), /^a host is named like/],
  ['a git operation with blanks', ruleWith('git_operations: [▸"git push"]'), /^a git operation is named like DIFF/],
  ['an unknown origin', ruleWith('origins: [▸executabel]'), /did you mean executable\?$/],
  ['no text for a model', ruleWith('models: [▸7]'), /^models must be text/],
  ['accept_new that is a word', ruleWith('accept_new: ▸yes'), /^accept_new must be true or false$/],
  [
    'accept_new that asks',
    'version: 1\nrules: [{ id: a, effect: require_approval, tools: [x], accept_new: ▸true }]\n',
    /^accept_new: true goes with effect: allow only$/,
  ],

  // Circumstances
  [
    'an argument without test',
    ruleWith('arguments: [▸{ pointer: /a }]'),
    /^a condition needs one of equals, in, matches/,
  ],
  [
    'an argument with two tests',
    ruleWith('arguments: [▸{ pointer: /a, equals: 1, in: [1] }]'),
    /^a condition needs one/,
  ],
  ['a pointer without slash', ruleWith('arguments: [{ pointer: ▸a, equals: 1 }]'), /^pointer is a JSON pointer/],
  ['a pointer with a tilde', ruleWith('arguments: [{ pointer: ▸/a~2, equals: 1 }]'), /^pointer is a JSON pointer/],
  ['a mapping to equal', ruleWith('arguments: [{ pointer: /a, equals: ▸{ b: 1 } }]'), /^equals must be text, a number/],
  [
    'a mapping in a list to equal',
    ruleWith('arguments: [{ pointer: /a, equals: [1, ▸{ b: 1 }] }]'),
    /^equals must be text/,
  ],
  ['a number without end', ruleWith('arguments: [{ pointer: /a, in: [1, ▸.inf] }]'), /^in must be text, a number/],
  ['hours of 25', ruleWith('hours: [▸"08:00-25:00"]'), /^hours are written like/],
  ['hours of nothing', ruleWith('hours: [▸"08:00-08:00"]'), /^hours are written like/],
  ['hours in one piece', ruleWith('hours: [▸"08:00"]'), /^hours are written like/],
  ['an unknown day', ruleWith('days: [mon, ▸tu]'), /^days must be one of sun, mon/],
  ['within alone', ruleWith('within: ▸10m'), /^within goes with after only$/],
  ['within days', ruleWith('after: [x.y], within: ▸3d'), /^within is written like/],
  ['after what is no tool', ruleWith('after: [▸a b]'), /^a tool is named like/],
  ['shadow that is a word', ruleWith('shadow: ▸on'), /^shadow must be true or false$/],
  [
    'arguments of an example as a list',
    ruleWith('match: [{ tool: x.y, arguments: ▸[1] }]'),
    /^arguments must be a mapping$/,
  ],
  ['a time of an example without day', ruleWith('match: [{ tool: x.y, at: ▸"09:30" }]'), /^at is written like/],

  // Entries by tool
  ['entries that are a list', 'version: 1\ntools: ▸[x]\n', /^tools must be a mapping/],
  ['an entry that is a word', 'version: 1\ntools: { x: ▸allow }\n', /^tool x must be a mapping with the keys category/],
  ['an entry for no tool', 'version: 1\ntools: { ▸a/b: {} }\n', /^a tool is named like/],
  [
    'an unknown key of an entry',
    'version: 1\ntools: { x: { ▸allowed_modes: [NORMAL] } }\n',
    /^unknown key allowed_modes in tool x/,
  ],
  [
    'an unknown mode of an entry',
    'version: 1\ntools: { x: { allowed_in_modes: [▸NIGHT] } }\n',
    /^allowed_in_modes must be one of/,
  ],
  ['a bad path of an entry', 'version: 1\ntools: { x: { allowed_paths: [▸a] } }\n', /^this pattern must start/],
  ['a bad command of an entry', 'version: 1\ntools: { x: { allowed_commands: [▸"a;b"] } }\n', /^this pattern has ";"/],
  ['a bad host of an entry', 'version: 1\ntools: { x: { allowed_hosts: [▸"a b"] } }\n', /^a host is named like/],
  ['a size of nothing', 'version: 1\ntools: { x: { max_file_size_mb: ▸0 } }\n', /^max_file_size_mb must be a whole/],
  [
    'an unknown limit of an entry',
    'version: 1\ntools: { x: { limits: { ▸per_week: 1 } } }\n',
    /^unknown key per_week in limits/,
  ],
  [
    'an entry whose id is taken',
    'version: 1\nrules:\n  - ▸{ id: tool-x-allowed, effect: deny, tools: [y] }\ntools: { x: { allowed_in_modes: [NORMAL] } }\n',
    /^id tool-x-allowed is taken by the rule in line 4$/,
  ],

  // Grants
  [
    'a grant of a denial',
    'version: 1\nrules: [{ id: a, effect: deny, tools: [x], grants: ▸{ read: [/a] } }]\n',
    /^grants do not go with effect: deny$/,
  ],
  ['an unknown grant', ruleWith('grants: { ▸reads: [/a] }'), /^unknown key reads in grants; did you mean read\?/],
  ['a granted pattern', ruleWith('grants: { read: [▸"/a/**"] }'), /^read in grants names whole folders and files/],
  ['a granted relative path', ruleWith('grants: { write: [▸a/b] }'), /^write in grants must be an absolute path/],
  ['a granted path with ..', ruleWith('grants: { read: [▸$WORKSPACE/../x] }'), /^read in grants must be an absolute/],
  ['a granted path with another variable', ruleWith('grants: { read: [▸$PWD/x] }'), /^read in grants must be/],
  ['any host', ruleWith('grants: { hosts: [▸"*"] }'), /^a host is named like/],
  ['a variable with a dash', ruleWith('grants: { environment: { ▸A-B: x } }'), /^a variable is named with letters/],
  ['a variable that is a number', ruleWith('grants: { environment: { A: ▸1 } }'), /^A must be text; put it in quotes/],
  ['a variable without value', ruleWith('grants: { environment: { A▸ } }'), /^A must be text/],
  ['an environment that is a list', ruleWith('grants: { environment: ▸[A=1] }'), /^environment must be a mapping/],
  ['a secret without name', ruleWith('grants: { secrets: [▸{ hosts: [a.com] }] }'), /^a secret lacks name$/],
  ['a secret by pattern', ruleWith('grants: { secrets: [{ name: ▸"*" }] }'), /^a secret is named with letters/],
  ['a secret for no host', ruleWith('grants: { secrets: [{ name: a, hosts: ▸[] }] }'), /^hosts is empty/],
  ['a header without hosts', ruleWith('grants: { secrets: [{ name: a, header: ▸X-Key }] }'), /needs the hosts/],
  [
    'a scheme without header',
    ruleWith('grants: { secrets: [{ name: a, hosts: [a.com], scheme: ▸Bearer }] }'),
    /name the header/,
  ],
  [
    'a header of the gate',
    ruleWith('grants: { secrets: [{ name: a, hosts: [a.com], header: ▸Host }] }'),
    /such as Authorization/,
  ],
  [
    'a header with spaces',
    ruleWith('grants: { secrets: [{ name: a, hosts: [a.com], header: ▸"X: y" }] }'),
    /such as Authorization/,
  ],
  [
    'a scheme of two words',
    ruleWith('grants: { secrets: [{ name: a, hosts: [a.com], header: X-Key, scheme: ▸"a b" }] }'),
    /one word/,
  ],
  ['a secret for a port', ruleWith('grants: { secrets: [{ name: a, hosts: [▸"a.com:1"] }] }'), /have no port$/],
  ['a limit of nothing', ruleWith('grants: { limits: { cpu_seconds: ▸0 } }'), /^cpu_seconds must be a whole number/],
  ['an unknown limit', ruleWith('grants: { limits: { ▸ram_mb: 1 } }'), /^unknown key ram_mb in limits/],
  ['another isolation', ruleWith('grants: { isolation: ▸docker }'), /^isolation must be one of sandbox, none$/],
  [
    "the gate's own home",
    ruleWith('grants: { read: [▸$HOME/.sallyport, ▸/home/ada/.sallyport/keys] }'),
    /^rule a grants \$HOME\/\.sallyport, which belongs to Sallyport's own files; no rule opens it$/,
    /which belongs to Sallyport's own files/,
  ],
  [
    'a folder around it',
    ruleWith('grants: { read: [▸$HOME] }'),
    /^rule a grants \$HOME, which contains Sallyport's own/,
  ],
  ['the program', ruleWith('grants: { write: [▸/opt/sallyport/packages] }'), /belongs to Sallyport's own files/],
  [
    'the configuration of a client',
    ruleWith('grants: { read: [▸$WORKSPACE/.mcp.json] }'),
    /belongs to the configuration/,
  ],
  ['a client in other letters', ruleWith('grants: { read: [▸$HOME/.CLAUDE] }'), /configuration of an agent client/],

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
  // Anomalies
  ['an unknown detector', 'anomalies: { ▸spike: {} }\n', /^unknown key spike in anomalies; did you mean call_spike\?/],
  ['a detector without numbers', 'anomalies: { call_spike: ▸{ more_than: 5 } }\n', /^call_spike lacks window_minutes$/],
  [
    'more failures than calls',
    'team_anomalies: { repeated_failures: { failures: ▸9, of: 8 } }\n',
    /^failures is above of, 8$/,
  ],
  [
    'a response that does not exist',
    'anomalies: { call_spike: { more_than: 5, window_minutes: 5, respond: [▸lockdown] } }\n',
    /^respond must be one of raise_mode, quarantine/,
  ],
  [
    'a combination of one tool',
    'anomalies: { combinations: [{ id: a, tools: ▸[x.y], within: 5 }] }\n',
    /^a combination has 2 to 4 tools/,
  ],
  [
    'two combinations of one name',
    'anomalies: { combinations: [{ id: a, tools: [x, y], within: 5 }, ▸{ id: a, tools: [x, z], within: 5 }] }\n',
    /^another combination has the id a$/,
  ],
  [
    'a detector that is on',
    'anomalies: { permission_escalation: ▸true }\n',
    /^permission_escalation must be a mapping/,
  ],

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

const modesMistakes: readonly Mistakes[] = [
  ['an unknown mode', 'version: 1\nmodes: { ▸NIGHT: {} }\n', /^unknown key NIGHT in modes/],
  ['less than nothing', 'version: 1\nmodes: { ALERT: { max_running: ▸-1 } }\n', /^max_running must be a whole number/],
  ['half a transition', 'version: 1\ntransitions:\n  - ▸from: NORMAL\n', /^a transition lacks to, when, hold_seconds$/],
  [
    'a transition that does not exist',
    'version: 1\ntransitions: [{ from: DEGRADED, to: ▸NORMAL, when: { cpu_percent: 1 }, hold_seconds: 1 }]\n',
    /^DEGRADED leads to LOCKDOWN, RECOVERY only$/,
  ],
  [
    'a transition that only a person makes',
    'version: 1\ntransitions: [{ from: ▸RECOVERY, to: NORMAL, when: { cpu_percent: 1 }, hold_seconds: 1 }]\n',
    /^only a person ends RECOVERY$/,
  ],
  [
    'a transition for no reason',
    'version: 1\ntransitions: [{ from: NORMAL, to: ALERT, when: ▸{}, hold_seconds: 1 }]\n',
    /^when needs one of cpu_percent/,
  ],
  [
    'more than everything',
    'version: 1\ntransitions: [{ from: NORMAL, to: ALERT, when: { memory_percent: ▸101 }, hold_seconds: 1 }]\n',
    /^memory_percent must be a whole number from 1 to 100$/,
  ],
];

const rolesMistakes: readonly Mistakes[] = [
  ['a role with capitals', 'version: 1\nroles: { ▸Boss: { tools: [x] } }\n', /^a role is named with small letters/],
  ['a role without tools', 'version: 1\nroles: { boss: ▸{} }\n', /^role boss lacks tools$/],
  [
    'a role that extends a later one',
    'version: 1\nroles: { a: { tools: [x], extends: [▸b] }, b: { tools: [y] } }\n',
    /^extends names a role/,
  ],
  ['a member without name', 'version: 1\nmembers: [▸{ teams: [x] }]\n', /^a member lacks agents$/],
  [
    'a member with an unknown role',
    'version: 1\nmembers: [{ agents: [x], roles: [▸a] }]\n',
    /^roles names a role that is not/,
  ],
  [
    'an unknown default',
    'version: 1\nroles: { a: { tools: [x] } }\ndefault: [▸b]\n',
    /is not defined above it; known: a$/,
  ],
];

function checkMistakes(name: 'tools' | 'limits' | 'modes' | 'roles', [what, marked, ...messages]: Mistakes): void {
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
  requirement('MODE-5');
  for (const mistakes of toolsMistakes) checkMistakes('tools', mistakes);
});

test('every mistake in limits.yaml is named with file, line and column', () => {
  for (const mistakes of limitsMistakes) checkMistakes('limits', mistakes);
});

test('every mistake in modes.yaml and roles.yaml is named with file, line and column', () => {
  for (const mistakes of modesMistakes) checkMistakes('modes', mistakes);
  for (const mistakes of rolesMistakes) checkMistakes('roles', mistakes);
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
