import { spellCount } from '@sallyport/contract';
import type { InJson, Upstream } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

/** What is said about the login when an upstream is added. */
export interface LoginOptions {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly privateKey?: string;
  readonly algorithm?: string;
  readonly issuer?: string;
  readonly clientCredentials?: boolean;
  readonly clientMetadataUrl?: string;
  readonly scopes?: readonly string[];
  readonly loginHosts?: readonly string[];
  readonly redirectPort?: number;
}

/** Prints the page to open as soon as it is known, and ends when the person has agreed there. */
export function loginUpstream(name: string, context: CommandContext): Promise<number> {
  return runSteps(context, async (step) => {
    const shown = await step<InJson<Upstream>>('upstreams.login', { name }, 'agreed');
    const { terminal, json, commandName } = context;
    const visible = makeVisibleLine(name);
    if (json) terminal.print(visibleJson(shown));
    else {
      terminal.print(
        `${terminal.paint('green', 'Logged in')} at the upstream ${visible}. It has ${spellCount(shown.tools, 'tool')}.`,
      );
      if (shown.pending > 0) terminal.print(`Look at them and accept them: ${commandName} upstream accept ${visible}`);
    }
    return exitCodes.success;
  });
}

export function logoutUpstream(name: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  return runSteps(context, async (step) => {
    await seekConsent(`Log out at the upstream ${makeVisibleLine(name)}?`, options, context);
    const result = await step('upstreams.logout', { name }, 'agreed');
    const text = `The login at ${makeVisibleLine(name)} is forgotten. To make it worthless there as well, revoke it at the server.`;
    context.terminal.print(context.json ? visibleJson(result) : text);
    return exitCodes.success;
  });
}

/** As it stands in the file. Undefined: nothing is said about the login. */
export function layOutLogin({ clientCredentials, ...login }: LoginOptions): object | undefined {
  const entries = {
    grant: clientCredentials === true ? 'client_credentials' : undefined,
    issuer: login.issuer,
    client_id: login.clientId,
    client_secret: login.clientSecret,
    private_key: login.privateKey,
    algorithm: login.algorithm,
    client_metadata_url: login.clientMetadataUrl,
    scopes: login.scopes,
    hosts: login.loginHosts,
    redirect_port: login.redirectPort,
  };
  const given = Object.entries(entries).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
