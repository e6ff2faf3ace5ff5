import { hash } from 'node:crypto';
import { makeVisible, wholeText } from '@sallyport/contract';
import type { InJson, Upstream as UpstreamMessage, UpstreamLogin } from '@sallyport/contract';
import type { RedactText } from '../../call/redacted.ts';
import type { AcceptedDefinitions } from '../../programs/accepted-definitions.ts';
import type { InstalledTool } from '../../programs/installed-tool.ts';
import type { InstalledTools } from '../../programs/installed-tools.ts';
import { explainInstalled } from '../../programs/tools/describe-installed.ts';
import { offerTools } from '../offer-tools.ts';
import type { PinnedPackage } from '../upstream-config.ts';
import type { Upstream } from '../upstream.ts';

/** An upstream server as lists show it. */
export function describeUpstream(upstream: Upstream, installed: Pick<InstalledTools, 'all'>): InJson<UpstreamMessage> {
  const { config, state, trouble, server, login, loginUrl } = upstream;
  const tools = toolsOf(config.name, installed);
  return {
    ...{ name: config.name, kind: config.endpoint.kind, state, trouble: makeVisible(trouble), file: config.file },
    server: server === undefined ? '' : makeVisible(wholeText(`${server.name} ${server.version}`)),
    protocol: makeVisible(wholeText(server?.protocolVersion ?? '')),
    ...{ tools: tools.length, pending: tools.filter(isPending).length },
    ...(login && { login: describeLogin(login) }),
    loginUrl: loginUrl?.href ?? '',
    ...{ endpointJson: '', toolList: [], skipped: [], pendingSha256: '' },
  };
}

/** All details: how it is reached, its tools, and which of them wait to be accepted. */
export function explainUpstream(
  upstream: Upstream,
  { installed, accepted }: { readonly installed: InstalledTools; readonly accepted: Pick<AcceptedDefinitions, 'read'> },
  redact: RedactText,
): InJson<UpstreamMessage> {
  const { config } = upstream;
  const { environment, ...endpoint } = { environment: {}, ...config.endpoint };
  const tools = toolsOf(config.name, installed);
  return {
    ...describeUpstream(upstream, installed),
    // Values of variables may be more private than their names.
    endpointJson: JSON.stringify({ ...endpoint, environment: Object.keys(environment) }),
    toolList: tools.map((tool) => explainInstalled(tool, accepted, { isDefault: true, redact })),
    skipped: offerTools(upstream).skipped,
    pendingSha256: hashPending(tools),
  };
}

/** Whom the login is with and since when, without anything secret. */
function describeLogin({ tokens, savedAtMs }: NonNullable<Upstream['login']>): InJson<UpstreamLogin> {
  const { issuer = '', scope = '' } = tokens;
  return {
    issuer: makeVisible(wholeText(issuer)),
    scopes: makeVisible(wholeText(scope, 500)),
    renewedAtMs: String(savedAtMs),
  };
}

/** Undefined: the server does not run from a package. */
export function packageOf({ config: { endpoint } }: Upstream): PinnedPackage | undefined {
  return endpoint.kind === 'stdio' ? endpoint.package : undefined;
}

export function toolsOf(upstream: string, { all }: Pick<InstalledTools, 'all'>): readonly InstalledTool[] {
  return all.filter(({ definition }) => definition.name.startsWith(`${upstream}.`));
}

export function isPending({ isAccepted, offer }: InstalledTool): boolean {
  return !isAccepted && offer !== undefined;
}

/** A hash of everything that waits to be accepted, so that exactly what was shown is accepted. */
export function hashPending(tools: readonly InstalledTool[]): string {
  const lines = tools.filter(isPending).map(({ id, offer }) => `${id} ${offer?.fileSha256}\n`);
  return hash('sha256', lines.sort().join(''));
}
