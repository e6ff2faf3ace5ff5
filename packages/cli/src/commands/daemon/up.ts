import { exitCodes } from '@sallyport/contract/codes';
import { AlreadyRunningError, startDaemon } from '@sallyport/gateway';
import type { Daemon } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { requestConsoleLink } from './console.ts';
import { CommandFailure, exitCodeInterrupted } from '../../client/failure.ts';
import { describeProfile, withReason } from './status.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { renderFields } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { GetStatusResponse, InJson } from '@sallyport/contract';

// npm passes a Ctrl-C on to a program that has already had it from the terminal.
const samePressMs = 400;
const lingerMs = 1000;

/** Runs the daemon in the foreground until a signal or `stop` ends it. */
export async function runDaemon(context: CommandContext): Promise<number> {
  const daemon = await start(context);
  context.terminal.outliveReaders();
  stopOnSignals(daemon, context);
  const status = await daemon.readStatus();
  // Links are for the eyes of a person, not for the log of a service.
  const link = context.json || !context.terminal.interactive ? undefined : await requestConsoleLink(context);
  const welcome = context.json
    ? [visibleJson(status)]
    : [...renderState(status, context), ...(isService() ? [] : renderNextSteps(status, link, context))];
  context.terminal.print(...welcome);
  await tellHealth(daemon, context);
  void tellMachine(daemon, context);
  // The process ends by itself when nothing is open; what could not be closed must not keep it.
  await daemon.ended.finally(() => setTimeout(() => process.exit(), lingerMs).unref());
  if (!context.json) context.terminal.print('Stopped.');
  return exitCodes.success;
}

/** A gate that seals itself says so where it was started: the person there may not be the one who calls. */
async function tellHealth(daemon: Daemon, { terminal, json, commandName }: CommandContext): Promise<void> {
  const say = (health: string, reason: string): void => {
    if (json) return terminal.print(visibleJson({ health, reason }));
    const time = formatTime(Date.now());
    const [tone, text] =
      health === 'sealed'
        ? (['red', `${time} Sealed: every call is refused, because ${reason}`] as const)
        : (['green', `${time} Serving again. It was sealed because ${reason}`] as const);
    const lines = wrapWords(makeVisibleLine(text), terminal.columns).map((line) => terminal.paintNote(tone, line));
    terminal.note('', ...lines);
    if (health === 'sealed') terminal.note(`  ${commandName} doctor`);
  };
  daemon.watchHealth(say);
  const { health, healthReason } = await daemon.readStatus();
  if (health === 'sealed') say(health, healthReason);
}

/** Said after the rest, because nobody should wait for it: what will not run here, and what to do about that. */
async function tellMachine(daemon: Daemon, { terminal, json }: CommandContext): Promise<void> {
  const troubles = await daemon.readMachine().catch(() => []);
  if (json || troubles.length === 0) return;
  for (const trouble of troubles) {
    terminal.note(
      '',
      ...wrapWords(makeVisibleLine(trouble), terminal.columns).map((line) => terminal.paintNote('yellow', line)),
    );
  }
}

async function start({ config, commandName }: CommandContext): Promise<Daemon> {
  try {
    return await startDaemon(config);
  } catch (error) {
    if (!(error instanceof AlreadyRunningError)) throw error;
    throw new CommandFailure('ALREADY_RUNNING', exitCodes.usage, error.message, {
      remedy: `See it with \`${commandName} status\`, end it with \`${commandName} stop\`.`,
    });
  }
}

/** The first Ctrl-C ends running calls and answers them, the second does not wait for that. */
export function stopOnSignals(
  daemon: Pick<Daemon, 'stop' | 'callsInFlight'>,
  { terminal, json }: Pick<CommandContext, 'terminal' | 'json'>,
): void {
  let stoppingSinceMs: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (stoppingSinceMs === undefined) {
      stoppingSinceMs = Date.now();
      const running = daemon.callsInFlight();
      if (!json && running > 0)
        terminal.note(`\nEnding what is still running (${running}). Ctrl-C again does not wait for it.`);
      else if (!json) terminal.note('');
      // Code that waits for `ended` gets the failure.
      daemon.stop(signal).catch(() => undefined);
    } else if (Date.now() - stoppingSinceMs > samePressMs) {
      process.exit(exitCodeInterrupted);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
}

/** Nobody sits before it: its log needs no keys to press and no commands to copy. */
function isService(): boolean {
  return Boolean(process.env['SALLYPORT_SERVICE']);
}

function renderState(status: InJson<GetStatusResponse>, { terminal, config }: CommandContext): string[] {
  const { paint, columns } = terminal;
  const { address, version, ruleCount, rulesFolder } = status;
  const fields: [string, string][] = [
    ['address', address],
    ['workspace', withReason(status.workspace, status.workspaceReason)],
    ['profile', describeProfile(status.profile)],
    ['rules', `${ruleCount} in ${rulesFolder}`],
    ['log', config.home.databaseFile],
    ['install', withReason(status.install, status.installMeaning)],
  ];
  return [
    `${paint('bold', `Sallyport ${version}`)} is ${paint('green', 'serving')}.${isService() ? '' : ' Ctrl-C ends it.'}`,
    '',
    ...renderFields(
      fields.map(([label, value]) => [label, value.split('\n').map(makeVisibleLine).join('\n')]),
      columns,
    ),
  ];
}

function renderNextSteps(
  { address }: InJson<GetStatusResponse>,
  link: string | undefined,
  { terminal: { paint }, commandName }: CommandContext,
): string[] {
  return [
    '',
    link === undefined ? 'Open the console in a browser:' : 'Open the console (the link works once, within a minute):',
    `  ${link === undefined ? `${commandName} console` : paint('bold', link)}`,
    '',
    `Make a first call, in another terminal${commandName.includes('npx') ? ', in this folder' : ''}:`,
    `  ${commandName} tool invoke files.list path=.`,
    '',
    `Let an agent in (it gets a token, and calls ${address}):`,
    `  ${commandName} session create my-agent`,
    '',
    'See what happens:',
    `  ${commandName} audit tail --follow`,
  ];
}
