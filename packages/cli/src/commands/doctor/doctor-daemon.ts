import { version } from '@sallyport/gateway';
import type { Check } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { findStartCommand } from '../../terminal/command-name.ts';
import { CommandFailure } from '../../client/failure.ts';
import { describeTraces } from '../daemon/status.ts';
import type { GetStatusResponse, InJson } from '@sallyport/contract';

export interface DaemonAnswer {
  readonly status?: InJson<GetStatusResponse>;
  /** Why the daemon gave no status. */
  readonly failure?: CommandFailure;
}

export async function readDaemon(context: CommandContext): Promise<DaemonAnswer> {
  try {
    return { status: await context.openOperatorClient().call('OperatorService/GetStatus', {}) };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { failure: error };
  }
}

export function checkDaemon({ status, failure }: DaemonAnswer, { commandName }: CommandContext): Check {
  const check = (state: Check['state'], message: string, remedy?: string): Check => ({
    name: 'daemon',
    state,
    message,
    ...(remedy === undefined ? {} : { remedy }),
  });
  if (status === undefined) {
    const isDown = failure?.code === 'UNREACHABLE';
    const message = failure?.message ?? 'It gave no answer.';
    return check(isDown ? 'warn' : 'fail', message, isDown ? findStartCommand(commandName) : failure?.remedy);
  }
  const { health, healthReason, pid, mode, address } = status;
  if (health !== 'serving') return check('fail', `It is ${health}: ${healthReason}`, `${commandName} stop`);
  if (status.version !== version) {
    const message = `It runs version ${status.version}, and this is version ${version}.`;
    return check('warn', message, `${commandName} stop`);
  }
  return check('ok', `process ${pid}, mode ${mode}, ${address}`);
}

/** That spans get where they should. When they do not, that is among the warnings. */
export function checkTraces({ status }: DaemonAnswer): readonly Check[] {
  const message = status === undefined ? '' : describeTraces(status);
  if (message === '' || status?.telemetry?.traces === 'failing') return [];
  return [{ name: 'traces', state: 'ok', message }];
}
