import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { checkMachine, checkWarnings } from '@sallyport/gateway';
import type { Check, InstallKind } from '@sallyport/gateway';
import { checkDaemon, checkTraces, readDaemon } from './doctor-daemon.ts';
import type { DaemonAnswer } from './doctor-daemon.ts';
import { noCalls, tryCalls } from './doctor-calls.ts';
import { checkExecutor } from './doctor-executor.ts';
import { checkStart } from './doctor-start.ts';
import { padText, textWidth, wrapWords } from '../../terminal/text-width.ts';
import type { Terminal, Tone } from '../../terminal/terminal.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

const longestVerificationMs = 10 * 60_000;

/** Looks at everything the gate needs here, and makes real calls through a gate that runs. Works without one as well. */
export async function runDoctor(context: CommandContext): Promise<number> {
  const { config, terminal, json } = context;
  if (!json) terminal.progress('Trying out the sandbox…');
  const daemon = await readDaemon(context);
  const { status } = daemon;
  if (!json && status !== undefined) terminal.progress('Making calls through the gate…');
  const { calls, itself } = status === undefined ? noCalls : await tryCalls(status, context);
  // What a running daemon can do here is its own to say: a service may do more than this terminal.
  const found = itself.filter(({ name }) => name === 'sandbox' || name === 'limits');
  const sandbox = found.length > 0 ? found : await checkExecutor();
  const machine = checkMachine({ config, sandbox, workspace: status?.workspace, install: readInstall(status) });
  const checks: readonly Check[] = [
    ...machine,
    checkDaemon(daemon, context),
    ...checkTraces(daemon),
    ...checkWarnings(status?.warnings ?? [], machine),
    ...calls,
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
  return warnings > 0 ? `Everything works. ${warnings} to know about.` : 'All is well.';
}
