import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadRules } from '../packages/gateway/src/governance/load-rules.ts';
import type { ToolDefinition } from '../packages/gateway/src/model/tool.ts';
import { modes } from '../packages/gateway/src/model/session.ts';
import type { Question, Rules } from '../packages/gateway/src/model/verdict.ts';
import { newPlace } from '../test/harness/daemon.ts';
import type { Budget } from './measure.ts';

const manyRules = 1000;
const fewRules = 10;

/** What a decision costs when a thousand rules name the same tool, each with a path of its own. */
export function rulesDecision(): Budget {
  let place: Place;
  let few: Rules;
  let many: Rules;
  return {
    name: `a decision among ${manyRules} rules`,
    bar: 'p99 ≤ 50 µs',
    meets: (_ratio, { subject }) => subject <= 50,
    setUp: () => {
      place = preparePlace();
      few = place.load(fewRules);
      many = place.load(manyRules);
      return Promise.resolve(place.remove);
    },
    round: (seconds) => {
      const floor = timesOf(few, place.workspace, seconds / 2);
      const subject = timesOf(many, place.workspace, seconds / 2);
      return Promise.resolve({
        floor: quantile(floor, 0.99),
        subject: quantile(subject, 0.99),
        unit: `µs at p99 (floor: among ${fewRules} rules)`,
        details: { 'p50 µs': quantile(subject, 0.5), 'p99.9 µs': quantile(subject, 0.999) },
      });
    },
  };
}

/** What it costs to read, check and compile them. */
export function rulesLoading(): Budget {
  let place: Place;
  return {
    name: `loading ${manyRules} rules`,
    bar: '≤ 200 ms',
    meets: (_ratio, { subject }) => subject <= 200,
    setUp: () => {
      place = preparePlace();
      return Promise.resolve(place.remove);
    },
    round: (seconds) => {
      const floor = cpuOf(() => place.load(fewRules), seconds / 4);
      const subject = cpuOf(() => place.load(manyRules), seconds);
      return Promise.resolve({ floor, subject, unit: `ms of CPU (floor: ${fewRules} rules)`, details: {} });
    },
  };
}

/** CPU milliseconds that one run takes. CPU, not time: other programs on the machine do not count. */
function cpuOf(run: () => unknown, seconds: number): number {
  const endsAt = performance.now() + seconds * 1000;
  const before = process.cpuUsage();
  let count = 0;
  do {
    run();
    count++;
  } while (performance.now() < endsAt);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / count;
}

interface Place {
  readonly workspace: string;
  readonly load: (rules: number) => Rules;
  readonly remove: () => Promise<void>;
}

function preparePlace(): Place {
  const { folder, home, workspace } = newPlace();
  const load = (count: number): Rules => {
    const rulesFolder = join(folder, `rules-${count}`);
    mkdirSync(rulesFolder, { recursive: true });
    writeFileSync(join(rulesFolder, 'tools.yaml'), `version: 1\nrules:\n${listRules(count)}\n`);
    const programFolder = join(import.meta.dirname, '..');
    return loadRules({ folder: rulesFolder, home, workspace, userHome: folder, programFolder });
  };
  return { workspace, load, remove: () => Promise.resolve(rmSync(folder, { recursive: true })) };
}

/** Half of them allow a project, half deny something in one. */
function listRules(count: number): string {
  const lines = Array.from({ length: count }, (_, at) => {
    const [effect, path] = at % 2 === 0 ? ['allow', `p${at}/**`] : ['deny', `p${at - 1}/secrets/**`];
    return `  - { id: r${at}, effect: ${effect}, tools: [files.read], paths: ["$WORKSPACE/projects/${path}"] }`;
  });
  return lines.join('\n');
}

const tool: ToolDefinition = {
  name: 'files.read',
  aliases: [],
  version: '1.0.0',
  description: '',
  tags: [],
  category: 'files',
  inputSchema: {},
  outputSchema: {},
  risk: 'low',
  confirmation: 'never',
  mutates: false,
  scopes: ['paths'],
  allowedModes: modes,
  requiresApproval: false,
  requiresSandbox: false,
  timeoutMs: 1000,
  idempotent: true,
  audience: 'everyone',
};

/** Allowed, denied by a rule and denied for want of one, in turn. */
function listQuestions(workspace: string): readonly Question[] {
  return Array.from({ length: 300 }, (_, at) => {
    const project = `${workspace}/projects/p${(at * 2) % manyRules}`;
    const path = [`${project}/src/deep/file.ts`, `${project}/secrets/key`, `/srv/elsewhere/${at}`][at % 3] as string;
    return {
      tool,
      principal: 'agent',
      agent: 'bench',
      mode: 'NORMAL',
      resources: { paths: [{ path, access: 'read' }] },
    };
  });
}

/** Microseconds of each decision. */
function timesOf(rules: Rules, workspace: string, seconds: number): readonly number[] {
  const questions = listQuestions(workspace);
  const endsAt = performance.now() + seconds * 1000;
  const times: number[] = [];
  while (performance.now() < endsAt) {
    for (const question of questions) times.push(timeOf(() => rules.judge(question)));
  }
  return times.sort((a, b) => a - b);
}

function timeOf(run: () => unknown): number {
  const before = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - before) / 1000;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? NaN;
}
