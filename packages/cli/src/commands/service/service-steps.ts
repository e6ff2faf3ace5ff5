import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { exitCodes } from '@sallyport/contract/codes';
import { CommandFailure, describeError } from '../../client/failure.ts';
import { quoteForShell } from '../../terminal/command-name.ts';

/** One thing that installing or removing does, so that it can be shown before and told apart when it fails. */
export type Step =
  | { readonly write: string; readonly content: string }
  | { readonly remove: string }
  | {
      readonly run: readonly [string, ...string[]];
      /** Its failure ends nothing. Absent: it does. */ readonly optional?: true;
    };

export function spellStep(step: Step): string {
  if ('write' in step) return `write ${step.write}`;
  if ('remove' in step) return `remove ${step.remove}`;
  return step.run.map(quoteForShell).join(' ');
}

/** Does them in their order. The first that fails ends it, and says which. */
export function takeSteps(steps: readonly Step[], report: (step: Step) => void): void {
  for (const step of steps) {
    try {
      take(step);
    } catch (error) {
      if ('run' in step && step.optional === true) continue;
      throw new CommandFailure('NOT_INSTALLED', exitCodes.toolError, `${spellStep(step)}: ${explain(error)}`);
    }
    report(step);
  }
}

function take(step: Step): void {
  if ('write' in step) {
    mkdirSync(dirname(step.write), { recursive: true });
    writeFileSync(step.write, step.content, { mode: 0o644 });
  } else if ('remove' in step) {
    rmSync(step.remove, { recursive: true, force: true });
  } else {
    const [file, ...args] = step.run;
    execFileSync(file, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
  }
}

function explain(error: unknown): string {
  const said = (error as { readonly stderr?: string }).stderr?.trim();
  return said === undefined || said === '' ? describeError(error) : said;
}

/** Whether systemd runs here, for the system or for this user. */
export function hasSystemd(scope: 'user' | 'system'): boolean {
  if (!existsSync('/run/systemd/system')) return false;
  if (scope === 'system') return true;
  const { status } = spawnSync('systemctl', ['--user', 'show-environment'], { stdio: 'ignore' });
  return status === 0;
}
