import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { listClients } from './known-clients.ts';
import type { KnownClient, OwnProgram } from './known-clients.ts';

/** This program, as clients start it. */
export function findOwnProgram({ config }: Pick<CommandContext, 'config'>): OwnProgram {
  const { folder } = config.home;
  const isUsual = folder === join(homedir(), '.sallyport');
  return {
    words: [process.execPath, process.argv[1] ?? ''],
    environment: isUsual ? {} : { SALLYPORT_HOME: folder },
  };
}

export function findClients(context: Pick<CommandContext, 'config'>): readonly KnownClient[] {
  return listClients(homedir(), process.env, findOwnProgram(context));
}

export function findClient(name: string, context: Pick<CommandContext, 'config'>): KnownClient {
  const all = findClients(context);
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw usageFailure(`There is no client ${name}.`, `Known are ${all.map((each) => each.name).join(', ')}.`);
}
