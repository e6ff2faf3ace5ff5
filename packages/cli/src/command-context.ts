import type { Config } from '@sallyport/gateway';
import type { DaemonClient } from './client/daemon-client.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What every command is given. Commands return their exit code. */
export interface CommandContext {
  /** Exactly one JSON object on standard output, for scripts. */
  readonly json: boolean;
  readonly terminal: Terminal;
  readonly config: Config;
  /** How to run this program from the person's shell, for suggestions. */
  readonly commandName: string;
  /** `token`: of the session to act as. Absent: as the person or the environment says. */
  readonly openClient: (token?: string) => DaemonClient;
  /** Fails when the token of a session is set. */
  readonly openOperatorClient: () => DaemonClient;
}
