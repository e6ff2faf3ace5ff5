import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { traceHeaders, traceOfEnvironment } from '@sallyport/contract/client';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { CommandFailure, usageFailure } from '../../client/failure.ts';
import { findProject, readConnection } from '../clients/connection-file.ts';
import { McpBridge } from './mcp-bridge.ts';
import { McpExchange } from './mcp-exchange.ts';
import { readLines } from '../../terminal/read-lines.ts';
import { describeTarget } from '../../client/choose-caller.ts';
import { reach, startInBackground } from '../daemon/start-in-background.ts';

export interface McpOptions {
  /** Start a daemon when none answers. */
  readonly start?: boolean;
  /** The client that starts it, connected by `sallyport init`: the session of its project is used. */
  readonly client?: string;
}

/**
 * An MCP server on standard input and output that carries everything to the daemon. Standard output is for the protocol
 * alone: what people should read goes to standard error.
 */
export async function serveMcp({ start = false, client: name }: McpOptions, context: CommandContext): Promise<number> {
  const client = name === undefined ? openAgentClient(context) : openConnected(name, context);
  if (start) await startInBackground(context);
  return client.stream(async (daemon) => {
    await reach(daemon.target);
    const { startFolder, environment } = context.config;
    const headers = traceHeaders(traceOfEnvironment(environment));
    const exchange = new McpExchange({ ...daemon, folder: realpathSync(startFolder), headers });
    const bridge = new McpBridge({
      exchange,
      write: writeLine,
      note: (text) => context.terminal.note(text),
      unreachable: `No daemon answers at ${describeTarget(daemon.target)}. Start one with \`${context.commandName} up\`.`,
    });
    for await (const line of readLines(process.stdin)) bridge.receive(line);
    await bridge.close();
    exchange.close();
    return exitCodes.success;
  });
}

function openConnected(name: string, { openClient, config, commandName }: CommandContext): DaemonClient {
  const folder = realpathSync(config.startFolder);
  const project = findProject(readConnection(config.home.folder, name), folder);
  if (project !== undefined) return openClient(project.token);
  throw usageFailure(
    `${name} is not connected in ${folder}.`,
    `Run \`${commandName} init --client ${name}\` in the project.`,
  );
}

/** Agents only: an operator's credential in the hands of a client would be that client's to use. */
function openAgentClient({ openClient, commandName }: CommandContext): DaemonClient {
  const missing = usageFailure(
    'No session token is set, so the daemon would not know whose calls these are.',
    `Make one with \`${commandName} session create my-agent\` and pass it as SALLYPORT_TOKEN, or in a file with --token-file.`,
  );
  let client: DaemonClient;
  try {
    client = openClient();
  } catch (error) {
    // Without a token we look for the operator's credential, which does not exist before the first start.
    throw error instanceof CommandFailure && error.code === 'UNREACHABLE' ? missing : error;
  }
  if (client.role === 'agent') return client;
  throw missing;
}

/** Undefined: there is room for more. */
function writeLine(message: string): Promise<void> | undefined {
  if (process.stdout.write(`${message}\n`)) return undefined;
  return once(process.stdout, 'drain').then(() => undefined);
}
