import { hash } from 'node:crypto';
import type { JsonObject } from '@sallyport/contract';
import type { AcceptedDefinitions } from '../../programs/accepted-definitions.ts';
import { makeVisible, wholeText } from '@sallyport/contract';
import type { RedactText } from '../../call/redacted.ts';
import type { InstalledTool } from '../../programs/installed-tool.ts';
import type { InstalledTools } from '../../programs/installed-tools.ts';
import { offerTools } from '../offer-tools.ts';
import type { Upstream } from '../upstream.ts';
import { describeDifference, describeInstalled } from '../../programs/tools/describe-installed.ts';

/** One line about an upstream server. */
export function describeUpstream(upstream: Upstream, installed: Pick<InstalledTools, 'all'>): JsonObject {
  const { config, state, trouble, server } = upstream;
  const tools = toolsOf(config.name, installed);
  return {
    name: config.name,
    kind: config.endpoint.kind,
    state,
    ...(trouble === '' ? {} : { trouble: makeVisible(trouble) }),
    ...(server === undefined
      ? {}
      : {
          server: makeVisible(wholeText(`${server.name} ${server.version}`)),
          protocol: makeVisible(wholeText(server.protocolVersion)),
        }),
    file: config.file,
    tools: tools.length,
    pending: tools.filter(isPending).length,
  };
}

/** All of it: how it is reached, its tools, and what of them is to be accepted. */
export function explainUpstream(
  upstream: Upstream,
  { installed, accepted }: { readonly installed: InstalledTools; readonly accepted: Pick<AcceptedDefinitions, 'read'> },
  redact: RedactText,
): JsonObject {
  const { config } = upstream;
  const { environment, ...endpoint } = { environment: {}, ...config.endpoint };
  const tools = toolsOf(config.name, installed);
  const { login, loginUrl } = upstream;
  return {
    ...describeUpstream(upstream, installed),
    ...(login === undefined ? {} : { login: describeLogin(login) }),
    ...(loginUrl === undefined ? {} : { login_url: loginUrl.href }),
    // Values of variables may be more private than their names.
    endpoint: { ...endpoint, environment: Object.keys(environment) } as unknown as JsonObject,
    tool_list: tools.map((tool) => ({
      ...describeInstalled(tool, { isDefault: true, redact }),
      ...(isPending(tool) && tool.offer !== undefined ? { definition: tool.offer.detail } : {}),
      difference: describeDifference(tool, accepted),
    })),
    skipped: offerTools(upstream).skipped.map(({ file, reason }) => ({ tool: file, reason })),
    pending_sha256: hashPending(tools),
  };
}

/** Whom it is with and since when; nothing that could be used. */
function describeLogin({ tokens, savedAtMs }: NonNullable<Upstream['login']>): JsonObject {
  const { issuer = '', scope } = tokens;
  return {
    issuer: makeVisible(wholeText(issuer)),
    ...(scope === undefined ? {} : { scopes: makeVisible(wholeText(scope, 500)) }),
    renewed_at: new Date(savedAtMs).toISOString(),
  };
}

export function toolsOf(upstream: string, { all }: Pick<InstalledTools, 'all'>): readonly InstalledTool[] {
  return all.filter(({ definition }) => definition.name.startsWith(`${upstream}.`));
}

export function isPending({ isAccepted, offer }: InstalledTool): boolean {
  return !isAccepted && offer !== undefined;
}

/** Stands for everything that waits to be accepted, so that exactly what was shown is. */
export function hashPending(tools: readonly InstalledTool[]): string {
  const lines = tools.filter(isPending).map(({ id, offer }) => `${id} ${offer?.fileSha256}\n`);
  return hash('sha256', lines.sort().join(''));
}
