import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const sameSignalMs = 1_000;
const parentCheckMs = 250;

/**
 * Runs a program to its end, with our terminal or with its output captured. Signals reach it once:
 *
 * - Ctrl-C and a closing terminal signal the whole process group, child included, so these are not passed on.
 * - npm passes on what it gets, so the same signal within a second counts as one.
 * - npm may signal only the shell between us, which then dies alone; losing our parent under npm counts as SIGTERM.
 */
export function runChild(command, args, { cwd, env, output }) {
  return new Promise((resolve) => {
    const stdio = output === 'capture' ? ['ignore', 'pipe', 'pipe'] : 'inherit';
    const child = spawn(command, args, { cwd, env, stdio });
    const onTerminal = process.stdin.isTTY === true || process.stdout.isTTY === true || process.stderr.isTTY === true;
    const lastMs = new Map();
    let interruptedBy;
    const pass = (signal) => {
      interruptedBy ??= signal;
      const repeats = Date.now() - (lastMs.get(signal) ?? 0) < sameSignalMs;
      lastMs.set(signal, Date.now());
      if (!repeats && !(onTerminal && signal !== 'SIGTERM')) child.kill(signal);
    };
    for (const signal of forwarded) process.on(signal, pass);
    const parent = process.ppid;
    const parentCheck = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(parentCheck);
      pass('SIGTERM');
    }, parentCheckMs);
    // Started by hand, outliving the shell may be just what is wanted.
    if (process.env.npm_lifecycle_event === undefined) clearInterval(parentCheck);

    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    child.stderr?.setEncoding('utf8').on('data', (chunk) => (text += chunk));

    const finish = (exitCode) => {
      clearInterval(parentCheck);
      for (const signal of forwarded) process.off(signal, pass);
      resolve({ exitCode, interruptedBy, output: text });
    };
    child.on('error', (error) => {
      text += `${error.message}\n`;
      finish(127);
    });
    child.on('close', (code, signal) => finish(code ?? 128 + constants.signals[signal]));
  });
}
