import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace } from '../harness/daemon.ts';
import type { Answer, Place, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';

const shipped = readFileSync(join(import.meta.dirname, '../../config/governance/tools.yaml'), 'utf8');

/** Pipelines are accepted and run without approval of the whole; the shipped rules decide about their steps. */
export const pipelineRule = `
  - id: own-pipelines
    effect: allow
    tools: ['*']
    origins: [pipeline]
    approval: waived
    accept_new: true
`;

const sleepRule = `
  - id: sleeping
    effect: allow
    tools: [shell.run]
    commands: ['sleep *', 'true']
    approval: waived
`;

export interface PlaceOptions {
  /** In place of those that accept pipelines and let commands sleep. */
  readonly rules?: string;
  readonly limits?: string;
}

/** A place with a file of pipelines. */
export function newPipelinePlace(pipelines: string, options: PlaceOptions = {}): Place {
  const {
    rules = pipelineRule + sleepRule,
    limits = 'repeats: { warn_at: 999, refuse_at: 1000, window_minutes: 10 }',
  } = options;
  const place = ownRules(newPlace(), {
    'tools.yaml': shipped + rules,
    'limits.yaml': `version: 1\nrates: []\n${limits}\n`,
    'modes.yaml': 'version: 1\n',
  });
  writePipelines(place, pipelines);
  return place;
}

export function writePipelines(place: Place, pipelines: string, file = 'pipelines.yaml'): void {
  mkdirSync(join(place.home, 'tools'), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, 'tools', file), `pipelines:\n${pipelines}`);
}

export type Output = Readonly<Record<string, unknown>>;

/** Waits until the daemon has looked at the folder. */
export async function untilReady(daemon: TestDaemon, name: string, status = 'ready'): Promise<void> {
  await until(`${name} is ${status}`, async () => {
    const { success } = await daemon.call('tools.status', { name });
    const { tools } = JSON.parse(success?.outputJson ?? '{"tools":[]}') as { tools: { status: string }[] };
    return tools[0]?.status === status;
  });
}

export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await isSo()) return;
    await pause(25);
  }
  assert.fail(`never came true: ${what}`);
}

export function codeOf({ denied, error }: Answer): string | undefined {
  return denied?.rationaleCode ?? error?.code;
}

type Records = Awaited<ReturnType<TestDaemon['records']>>;

/** The records of the steps of a call, and of their steps. */
export async function stepsOf(daemon: TestDaemon, callId: string): Promise<Records> {
  return (await daemon.records()).filter(({ payload }) => payload['parent_call_id'] === callId);
}

export async function outcomeOf(daemon: TestDaemon, callId: string): Promise<Records[number] | undefined> {
  return (await daemon.records()).find((record) => record.callId === callId && record.kind !== 'intent');
}

/** Whether a program sleeps for exactly that long, anywhere on this machine. */
export function isAsleep(seconds: string): boolean {
  return readdirSync('/proc').some((entry) => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/cmdline`, 'utf8').endsWith(`sleep\0${seconds}\0`);
    } catch {
      return false;
    }
  });
}
