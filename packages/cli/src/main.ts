import { CommanderError } from 'commander';
import { readConfig } from '@sallyport/gateway';
import { findCommandName, findStartCommand } from './terminal/command-name.ts';
import { openClient, openOperatorClient } from './client/daemon-client.ts';
import { buildProgram } from './program.ts';
import type { Run } from './program.ts';
import { reportFailure } from './client/report-failure.ts';
import { openTerminal } from './terminal/terminal.ts';

/** Runs one command and leaves its exit code in the process. Never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = openTerminal();
  // Known before the arguments are parsed: an error in them is told in the form that was asked for.
  const json = argv.slice(2, argv.includes('--') ? argv.indexOf('--') : undefined).includes('--json');
  const report = (error: unknown): number => reportFailure(error, { terminal, json });
  process.once('uncaughtException', (error) => process.exit(report(error)));
  const run: Run = async ({ tokenFile }, command) => {
    const environment = process.env;
    const config = readConfig(environment);
    const commandName = findCommandName(argv[1] ?? '', environment);
    const startCommand = findStartCommand(commandName);
    const given = { home: config.home, port: config.port, startCommand, environment };
    const client = { ...given, ...(tokenFile === undefined ? {} : { tokenFile }) };
    process.exitCode = await command({
      json,
      terminal,
      config,
      commandName,
      openClient: (token) => openClient(token === undefined ? client : { ...client, token }),
      openOperatorClient: () => openOperatorClient(client),
    });
  };
  try {
    const program = await buildProgram(run, { json, words: argv.slice(2) });
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : report(error);
  }
}
