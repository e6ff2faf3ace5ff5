import { CommanderError } from 'commander';
import { exitCodes } from '@sallyport/contract/codes';
import { ConfigError } from '@sallyport/gateway';
import type { CommandContext } from '../command-context.ts';
import { CommandFailure, StoppedByPerson } from './failure.ts';
import { renderFields } from '../terminal/table.ts';
import { makeVisible, visibleJson } from '../terminal/visible-text.ts';

interface Told {
  readonly code: string;
  readonly exitCode: number;
  readonly message: string;
  readonly remedy?: string | undefined;
}

/** Tells the person, or the script, why a command could not do its work. Returns the exit code. */
export function reportFailure(error: unknown, { terminal, json }: Pick<CommandContext, 'terminal' | 'json'>): number {
  const told = describeFailure(error);
  if (process.env['SALLYPORT_DEBUG'] && error instanceof Error) terminal.note(makeVisible(error.stack ?? ''));
  if (json) {
    const message = [told.message, told.remedy].filter((part) => part !== undefined).join(' ');
    terminal.print(visibleJson({ status: 'error', error: { code: told.code, message } }));
  } else if (error instanceof StoppedByPerson) {
    terminal.note(told.message);
  } else if (!(error instanceof CommanderError)) {
    // Commander has already told its own.
    const text = told.remedy === undefined ? told.message : `${told.message}\n${told.remedy}`;
    const [first = '', ...more] = renderFields([['Error', makeVisible(text)]], terminal.columns, '');
    terminal.note(first.replace('Error', terminal.paintNote('red', 'Error')), ...more);
  }
  return told.exitCode;
}

function describeFailure(error: unknown): Told {
  if (error instanceof CommandFailure) return error;
  if (error instanceof ConfigError) {
    return { code: 'CONFIG', exitCode: exitCodes.usage, message: error.message, remedy: error.remedy };
  }
  if (error instanceof CommanderError) {
    const message =
      error.code === 'commander.help'
        ? 'No command was given.'
        : error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    return { code: 'USAGE', exitCode: exitCodes.usage, message };
  }
  return {
    code: 'UNEXPECTED',
    exitCode: exitCodes.toolError,
    message: error instanceof Error ? error.message : String(error),
    remedy: 'This should not happen. SALLYPORT_DEBUG=1 shows where it came from.',
  };
}
