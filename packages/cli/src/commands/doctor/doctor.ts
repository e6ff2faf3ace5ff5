import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { checkMachine } from '@sallyport/gateway';
import type { Check, InstallKind } from '@sallyport/gateway';
import { checkDaemon, checkWarnings, readDaemon } from './doctor-daemon.ts';
import type { DaemonAnswer } from './doctor-daemon.ts';
import { checkExecutor } from './doctor-executor.ts';
import { checkStart } from './doctor-start.ts';
import { padText, textWidth, wrapWords } from '../../terminal/text-width.ts';
import type { Terminal, Tone } from '../../terminal/terminal.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

const longestVerificationMs = 10 * 60_000;

/** Looks at everything the gate needs here. Works without a daemon, and changes nothing. */
export async function runDoctor(context: CommandContext): Promise<number> {
  const { config, terminal, json } = context;
  if (!json) terminal.progress('Trying out the sandbox…');
  const [daemon, sandbox] = await Promise.all([readDaemon(context), checkExecutor()]);
  const { status } = daemon;
  const checks: readonly Check[] = [
    ...checkMachine({ config, sandbox, workspace: status?.workspace, install: readInstall(status) }),
    checkDaemon(daemon, context),
    ...checkWarnings(daemon),
    ...(daemon.failure?.code === 'UNREACHABLE'
      ? await checkStart(config, AbortSignal.timeout(longestVerificationMs))
      : []),
  ];
  if (!json) terminal.progress('');
  const failed = checks.filter(({ state }) => state === 'fail').length;
  if (json) terminal.print(visibleJson({ ok: failed === 0, checks }));
  else terminal.print(...checks.flatMap((check) => renderCheck(check, terminal)), '', summarize(checks));
  return failed === 0 ? exitCodes.success : exitCodes.toolError;
}

function readInstall(status: DaemonAnswer['status']): InstallKind | undefined {
  if (status === undefined) return undefined;
  return { kind: status.install === 'separated' ? 'separated' : 'advisory', meaning: status.installMeaning };
}

const nameWidth = 15;
const tones: Readonly<Record<Check['state'], Tone>> = { ok: 'green', warn: 'yellow', fail: 'red' };

/** The state, what was looked at, what was found; below it what to do, on a line that can be copied. */
function renderCheck({ name, state, message, remedy }: Check, { columns, paint }: Terminal): string[] {
  const label = `${padText(state, 6)}${padText(name, nameWidth)}`;
  const indent = padText('', textWidth(label));
  const lines = message
    .split('\n')
    .flatMap((line) => wrapWords(makeVisibleLine(line), Math.max(columns - indent.length, 30)));
  return [
    ...lines.map((line, at) =>
      at === 0 ? `${paint(tones[state], padText(state, 6))}${padText(name, nameWidth)}${line}` : `${indent}${line}`,
    ),
    ...(remedy === undefined ? [] : [`${indent}${paint('bold', makeVisibleLine(remedy))}`]),
  ];
}

function summarize(checks: readonly Check[]): string {
  const count = (state: Check['state']): number => checks.filter((check) => check.state === state).length;
  const [fails, warnings] = [count('fail'), count('warn')];
  if (fails > 0) return `${fails} of ${checks.length} checks failed.`;
  return warnings > 0 ? `All is there. ${warnings} to know about.` : 'All is well.';
}
