import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spellBytes } from '@sallyport/contract';
import type { NetworkEvent, Program, ProgramEnd, ProgramRunner, RunOptions } from '@sallyport/sandbox';
import { defaultProgramLimits, programLimitNames, ProgramLost, ProgramNotStarted } from '@sallyport/sandbox';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { Progress, ToolContext, ToolUsage } from '../../call/tool.ts';
import { runProgram } from './run-program.ts';
import { requirement } from '../../../../../test/requirement.ts';

const program: Program = {
  argv: ['/bin/true'],
  environment: {},
  workingDirectory: '/tmp',
  stdin: new Uint8Array(),
  mounts: [],
  hosts: [],
  limits: defaultProgramLimits,
  isolation: 'sandbox',
};
const exited: ProgramEnd = {
  how: { kind: 'exited', code: 0 },
  usage: { measuredBy: 'cgroup', cpuMs: 5 },
};

/** A context whose programs end as the test says. */
function contextWith(run: (options: RunOptions, attempt: number) => Promise<ProgramEnd>) {
  const progress: Progress[] = [];
  const usage: ToolUsage[] = [];
  const kept: Buffer[] = [];
  const noted: NetworkEvent[] = [];
  let attempts = 0;
  const programs: ProgramRunner = { run: (_program, options) => run(options, ++attempts) };
  const context = {
    signal: new AbortController().signal,
    programs,
    content: {
      keep: async (source: AsyncIterable<Uint8Array>) => {
        const bytes = Buffer.concat(await Array.fromAsync(source));
        kept.push(bytes);
        return { hash: 'ab', sizeBytes: bytes.length };
      },
    },
    reportProgress: (report: Progress) => void progress.push(report),
    countUsage: (more: ToolUsage) => void usage.push(more),
    noteNetwork: (events: readonly NetworkEvent[]) => void noted.push(...events),
    noteEffect: () => undefined,
  } as unknown as ToolContext;
  return { context, progress, usage, kept, noted, attempts: () => attempts };
}

test('what a program wrote is captured, what it used is counted, and stderr is reported as it comes', async () => {
  const { context, progress, usage, kept, noted } = contextWith(async ({ onStdout, onStderr, onNetwork }) => {
    await onStdout(Buffer.from('out'));
    onNetwork?.([{ outcome: 'refused', target: 'a:443', times: 2 }]);
    const euro = Buffer.from('€');
    await onStderr(euro.subarray(0, 1));
    await onStderr(euro.subarray(1));
    await onStdout(Buffer.from('put'));
    return exited;
  });
  const output = await runProgram(program, context, { inlineBytes: 100 });
  assert.deepEqual(output.stdout, { bytes: Buffer.from('output'), truncated: false, totalBytes: 6 });
  assert.equal(output.stderr.bytes.toString(), '€');
  assert.deepEqual(output.network.entries, noted);
  assert.deepEqual(progress, [{ kind: 'stderr', text: '€' }]);
  assert.deepEqual(usage, [{ measuredBy: 'cgroup', cpuMs: 5 }]);
  assert.deepEqual(kept, []);
});

test('output past the bound is kept whole, and its beginning is at hand', async () => {
  for (const chunks of [
    ['12345678'],
    ['1234', '5678'],
    ['123', '45', '678'],
    ['1', '2', '3', '4', '5', '6', '7', '8'],
  ]) {
    const { context, kept } = contextWith(async ({ onStdout }) => {
      for (const chunk of chunks) await onStdout(Buffer.from(chunk));
      return exited;
    });
    const { stdout } = await runProgram(program, context, { inlineBytes: 4 });
    assert.deepEqual(stdout, { bytes: Buffer.from('1234'), truncated: true, totalBytes: 8, contentHash: 'ab' });
    assert.equal(kept.join(), '12345678');
  }
});

test('output of a program that failed is not kept', async () => {
  const { context, kept } = contextWith(async ({ onStdout }) => {
    await onStdout(Buffer.from('123456789'));
    return { ...exited, how: { kind: 'limit', limit: 'cpuMs' } };
  });
  await assert.rejects(runProgram(program, context, { inlineBytes: 4 }), { code: 'CPU_LIMIT' });
  assert.deepEqual(kept, []);
});

test('a store that takes nothing more ends the program and is the reason told', async () => {
  const full = new ToolFailure('DISK_FULL', 'Full.');
  let stopped = false;
  const { context } = contextWith(async ({ onStdout, signal }) => {
    await onStdout(Buffer.from('123456789'));
    stopped = signal.aborted;
    return { ...exited, how: { kind: 'aborted' } };
  });
  const content = { keep: () => Promise.reject(full) } as unknown as ToolContext['content'];
  await assert.rejects(runProgram(program, { ...context, content }, { inlineBytes: 4 }), full);
  assert.ok(stopped);
});

const says = (message: string, amount: number): boolean =>
  message.includes(String(amount)) || message.includes(spellBytes(amount));

test('every limit has a code and says how much it was', async () => {
  for (const limit of programLimitNames) {
    const { context } = contextWith(() => Promise.resolve({ ...exited, how: { kind: 'limit', limit } }));
    await assert.rejects(runProgram(program, context, { inlineBytes: 1 }), (error) => {
      assert.ok(error instanceof ToolFailure && says(error.message, defaultProgramLimits[limit]), limit);
      return true;
    });
  }
});

test('a program that was ended because the disk is nearly full says so', async () => {
  const { context } = contextWith(() => Promise.resolve({ ...exited, how: { kind: 'disk-nearly-full' } }));
  const failure = { code: 'DISK_LIMIT', message: /nearly full/ };
  await assert.rejects(runProgram(program, context, { inlineBytes: 1 }), failure);
});

test('a program that was stopped fails with the reason of the signal', async () => {
  const reason = new ToolFailure('TIMEOUT', 'Too long.');
  for (const [signal, expected] of [
    [AbortSignal.abort(reason), { code: 'TIMEOUT' }],
    [AbortSignal.abort(), { code: 'CANCELLED' }],
  ] as const) {
    const { context } = contextWith(() => Promise.resolve({ ...exited, how: { kind: 'aborted' } }));
    await assert.rejects(runProgram(program, { ...context, signal }, { inlineBytes: 1 }), expected);
  }
});

test('what certainly did not start for a passing reason is tried once more, and only once', async () => {
  requirement('EXEC-8');
  const passing = new ProgramNotStarted('EXECUTION_ERROR', 'Not now.', { isTransient: true });
  const second = contextWith((_, attempt) => (attempt === 1 ? Promise.reject(passing) : Promise.resolve(exited)));
  assert.equal((await runProgram(program, second.context, { inlineBytes: 1 })).how.kind, 'exited');
  const never = contextWith(() => Promise.reject(passing));
  await assert.rejects(runProgram(program, never.context, { inlineBytes: 1 }), { code: 'EXECUTION_ERROR' });
  assert.equal(never.attempts(), 2);
  const lasting = contextWith(() => Promise.reject(new ProgramNotStarted('EXECUTION_ERROR', 'Never.')));
  await assert.rejects(runProgram(program, lasting.context, { inlineBytes: 1 }), { code: 'EXECUTION_ERROR' });
  assert.equal(lasting.attempts(), 1);
});

test('a program that may not start here is refused, with the remedy', async () => {
  for (const code of ['SANDBOX_UNAVAILABLE', 'LIMIT_UNENFORCEABLE', 'TOOL_MISSING'] as const) {
    const { context } = contextWith(() => Promise.reject(new ProgramNotStarted(code, 'No.', { remedy: 'Do this.' })));
    await assert.rejects(runProgram(program, context, { inlineBytes: 1 }), (error) => {
      assert.ok(error instanceof ToolRefused);
      assert.deepEqual([error.refusal.code, error.refusal.forOperators], [code, 'Do this.']);
      return true;
    });
  }
});

test('an executor that was lost is told as it is', async () => {
  const { context, attempts } = contextWith(() => Promise.reject(new ProgramLost()));
  const isLost = (error: unknown): boolean => error instanceof ToolFailure && error.code === 'EXECUTOR_LOST';
  await assert.rejects(runProgram(program, context, { inlineBytes: 1 }), isLost);
  assert.equal(attempts(), 1);
});
