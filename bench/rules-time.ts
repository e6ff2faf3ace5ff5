import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadRules } from '../packages/gateway/src/policy/language/load-rules.ts';
import { fakeTool } from '../packages/gateway/src/policy/test-world.ts';
import { modes } from '../packages/gateway/src/call/session.ts';
import type { Question, Rules } from '../packages/gateway/src/call/verdict.ts';
import { newPlace } from '../test/harness/daemon.ts';
import type { Budget } from './measure.ts';

const manyRules = 1000;
const fewRules = 10;

/** What tells the rules apart: a folder each; a glob that all of them begin with; other things than paths. */
const shapes = {
  folders: (at: number) => `paths: ["$WORKSPACE/projects/p${at - (at % 2)}/${at % 2 === 0 ? '**' : 'secrets/**'}"]`,
  globs: (at: number) => `paths: ["${['$WORKSPACE/**/*.k', '$WORKSPACE/**/d'][at % 2]}${at}${['', '-*/**'][at % 2]}"]`,
  conditions: (at: number) =>
    [`agents: [agent-${at}]`, `commands: ["git sub${at} *"]`, `hosts: [h${at}.example.com]`][at % 3] as string,
} as const;

/** What a decision costs when a thousand rules are about the same tools. */
export function rulesDecision(shape: keyof typeof shapes = 'folders'): Budget {
  let place: Place;
  let few: Rules;
  let many: Rules;
  return {
    name: `a decision among ${manyRules} rules, ${shape}`,
    bar: 'p99 ≤ 50 µs',
    meets: (_ratio, { subject }) => subject <= 50,
    setUp: () => {
      place = preparePlace();
      few = place.load(shape, fewRules);
      many = place.load(shape, manyRules);
      return Promise.resolve(place.remove);
    },
    round: (seconds) => {
      const questions = listQuestions(place.workspace, shape);
      const floor = timesOf(few, questions, seconds / 2);
      const subject = timesOf(many, questions, seconds / 2);
      return Promise.resolve({
        floor: quantile(floor, 0.99),
        subject: quantile(subject, 0.99),
        unit: `µs at p99 (floor: among ${fewRules} rules)`,
        details: { 'p50 µs': quantile(subject, 0.5), 'p99.9 µs': quantile(subject, 0.999) },
      });
    },
  };
}

/** What it costs a fresh process to read, check and compile them. */
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
      const loadAnew = (count: number) => place.loadOnce(place.write('folders', count), newKeptFile());
      const floor = medianOf(() => loadAnew(fewRules), seconds / 2);
      const subject = medianOf(() => loadAnew(manyRules), seconds);
      return Promise.resolve({ floor, subject, unit: `ms of CPU (floor: ${fewRules} rules)`, details: {} });
    },
  };

  function newKeptFile(): string {
    return join(place.folder, `applied-${randomUUID()}`);
  }
}

/** What the shipped rules cost an ordinary start: one that is not the first with these rules. */
export function rulesStart(): Budget {
  let place: Place;
  const shipped = join(programFolder, 'config/governance');
  return {
    name: 'the shipped rules at a start',
    bar: '≤ 30 ms',
    meets: (_ratio, { subject }) => subject <= 30,
    setUp: () => {
      place = preparePlace();
      return Promise.resolve(place.remove);
    },
    round: (seconds) => {
      const kept = join(place.folder, 'applied');
      place.loadOnce(shipped, kept);
      const subject = medianOf(() => place.loadOnce(shipped, kept), seconds / 2);
      const anew = () => place.loadOnce(shipped, join(place.folder, `applied-${randomUUID()}`));
      const floor = medianOf(anew, seconds / 2);
      return Promise.resolve({ floor, subject, unit: 'ms of CPU (floor: the first start)', details: {} });
    },
  };
}

/** The middle of as many runs as there is time for; at least three. */
function medianOf(run: () => number, seconds: number): number {
  const endsAt = performance.now() + seconds * 1000;
  const times: number[] = [];
  do times.push(run());
  while (times.length < 3 || performance.now() < endsAt);
  return quantile(
    times.sort((a, b) => a - b),
    0.5,
  );
}

interface Place {
  readonly folder: string;
  readonly workspace: string;
  /** Writes a folder of rules. Returns its path. */
  readonly write: (shape: keyof typeof shapes, rules: number) => string;
  readonly load: (shape: keyof typeof shapes, rules: number) => Rules;
  /** In a process of its own. CPU milliseconds; other programs on the machine do not count. */
  readonly loadOnce: (rulesFolder: string, keptFile: string) => number;
  readonly remove: () => Promise<void>;
}

const programFolder = join(import.meta.dirname, '..');

function preparePlace(): Place {
  const { folder, home, workspace } = newPlace();
  const write: Place['write'] = (shape, count) => {
    const rulesFolder = join(folder, `${shape}-${count}`);
    mkdirSync(rulesFolder, { recursive: true });
    const rules = Array.from({ length: count }, (_, at) => {
      const effect = at % 2 === 0 ? 'allow' : 'deny';
      return `  - { id: r${at}, effect: ${effect}, tools: ["files.*"], ${shapes[shape](at)} }\n`;
    });
    writeFileSync(join(rulesFolder, 'tools.yaml'), `version: 1\nrules:\n${rules.join('')}`);
    return rulesFolder;
  };
  const source = { home, workspace, userHome: folder, programFolder };
  const once = join(import.meta.dirname, 'load-rules-once.ts');
  return {
    folder,
    workspace,
    write,
    load: (shape, count) => loadRules({ ...source, folder: write(shape, count) }),
    loadOnce: (rulesFolder, keptFile) =>
      Number(execFileSync(process.execPath, [once, rulesFolder, keptFile, home, workspace, programFolder])),
    remove: () => Promise.resolve(rmSync(folder, { recursive: true })),
  };
}

const tool = fakeTool('files.read', { allowedModes: modes, timeoutMs: 1000 });

/** Allowed, denied by a rule and denied for want of one, in turn. */
function listQuestions(workspace: string, shape: keyof typeof shapes): readonly Question[] {
  return Array.from({ length: 300 }, (_, at) => {
    const rule = (at * 7) % manyRules;
    const project = `${workspace}/projects/p${rule - (rule % 2)}`;
    const paths = {
      folders: [`${project}/src/deep/file.ts`, `${project}/secrets/key`],
      globs: [`${workspace}/src/deep/file.k${rule}`, `${workspace}/src/d${rule}-x/file.ts`],
      conditions: [`${workspace}/a.ts`, `${workspace}/a.ts`],
    }[shape];
    const path = at % 3 === 2 ? `/srv/elsewhere/${at}` : (paths[at % 3] as string);
    const named = shape === 'conditions' ? { commands: [`git sub${rule} -v`], hosts: [`h${rule}.example.com`] } : {};
    return {
      tool,
      principal: 'agent',
      agent: `agent-${rule}`,
      mode: 'NORMAL',
      resources: { paths: [{ path, access: 'read' }], ...named },
    };
  });
}

/** Microseconds of each decision. */
function timesOf(rules: Rules, questions: readonly Question[], seconds: number): readonly number[] {
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
