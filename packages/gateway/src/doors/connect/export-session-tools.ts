import { create } from '@bufbuild/protobuf';
import { ExportToolsResponseSchema, wholeText } from '@sallyport/contract';
import type { ExportToolsRequest, ExportToolsResponse } from '@sallyport/contract';
import type { Session } from '../../call/session.ts';
import { exportFormats, exportUsable } from '../../registry/export-tools.ts';
import { isCallable } from '../../registry/registry.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ShownDefinitions } from '../../registry/shown-definitions.ts';
import type { ToolVisibility } from '../../sessions/tool-visibility.ts';
import type { Store } from '../../storage/stores.ts';
import { RpcError } from '../transport/rpc-error.ts';

export interface ExportParts {
  readonly store: Pick<Store, 'readSession'>;
  readonly registry: Pick<Registry, 'all'>;
  readonly visibility: Pick<ToolVisibility, 'isShown'>;
  readonly definitions: Pick<ShownDefinitions, 'of'>;
}

/** The tools that a session may call now. Throws RpcError for a session that the caller cannot ask about. */
export async function exportSessionTools(
  request: ExportToolsRequest,
  caller: Session,
  parts: ExportParts,
): Promise<ExportToolsResponse> {
  const format = exportFormats.find((each) => each === request.format);
  if (format === undefined) throw new RpcError('invalid_argument', `The format must be ${exportFormats.join(', ')}.`);
  const session = await findSession(request.sessionId, caller, parts);
  const { registry, visibility, definitions } = parts;
  const nowMs = Date.now();
  const shown = registry.all.filter((tool) => isCallable(tool) && visibility.isShown(tool, session, nowMs));
  const { tools, canonicalNames } = exportUsable(
    shown.map(({ definition }) => definitions.of(definition)),
    format,
  );
  return create(ExportToolsResponseSchema, {
    toolsJson: JSON.stringify(tools),
    names: [...canonicalNames].map(([exported, name]) => ({ exported, name })),
  });
}

async function findSession(id: string, caller: Session, { store }: ExportParts): Promise<Session> {
  if (caller.principal !== 'operator') {
    if (id === '' || id === caller.id) return caller;
    throw new RpcError('permission_denied', 'An agent exports its own tools only.');
  }
  if (id === '')
    throw new RpcError(
      'invalid_argument',
      'Say whose tools to export: give the id of a session (--session at the command line; `sallyport session list` shows them).',
    );
  const session = await store.readSession(id);
  if (session?.principal === 'agent' && session.status === 'active') return session;
  throw new RpcError(
    'not_found',
    `There is no active session of an agent with the id ${JSON.stringify(wholeText(id))}.`,
  );
}
