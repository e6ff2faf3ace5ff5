import { makeVisible, NamedUpstreamSchema, UpstreamSchema } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { explainUpstream } from './describe-upstream.ts';
import { findUpstream, named } from './upstream-parts.ts';
import type { UpstreamToolParts } from './upstream-parts.ts';

const waitMinutes = 10;

/**
 * Runs until the person has logged in. The page to open is sent as progress, and shown with the upstream meanwhile; the
 * browser returns to this machine.
 */
export function loginTool(parts: UpstreamToolParts) {
  return defineOperatorTool({
    name: 'upstreams.login',
    description: 'Has a person log in at an upstream server: says which page to open, and waits for its answer.',
    mutates: true,
    timeoutMs: waitMinutes * 60_000,
    ...named,
    answers: UpstreamSchema,
    preview: ({ name }) => ({
      summary: `Log in at the upstream ${name}.`,
      detail: `The gate keeps what the login gives it, and acts with it whenever a tool of ${name} is called.\n`,
      undoable: true,
    }),
    run: async ({ name }, { signal, reportProgress, redact }) => {
      const upstream = findUpstream(parts, name);
      const onUrl = (url: URL): void => reportProgress({ kind: 'stderr', text: describeWait(url) });
      await upstream.logIn({ signal, onUrl });
      await parts.installed.refresh();
      return explainUpstream(upstream, parts, redact);
    },
    summarize: ({ name }) => `logged in at ${name}`,
  });
}

export function logoutTool(parts: UpstreamToolParts) {
  return defineOperatorTool({
    name: 'upstreams.logout',
    description: 'Forgets the login at an upstream server. Its tools cannot be called until somebody logs in again.',
    mutates: true,
    idempotent: true,
    ...named,
    answers: NamedUpstreamSchema,
    preview: ({ name }) => ({ summary: `Log out at the upstream ${name}.` }),
    run: async ({ name }) => {
      if (await findUpstream(parts, name).logOut()) return { name };
      throw new ToolFailure('NOT_FOUND', `Nobody is logged in at the upstream ${name}.`);
    },
    summarize: ({ name }) => `logged out at ${name}`,
  });
}

function describeWait(url: URL): string {
  return `Open this page and agree there:\n\n  ${makeVisible(url.href)}\n\nThe browser must run on this machine. The gate waits ${waitMinutes} minutes for its answer.\n`;
}
