import { useState } from 'react';
import { compareNaturally } from '@sallyport/contract/natural-order';
import { daemon } from '../daemon/connect.ts';
import type { Tool } from '../daemon/messages.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Empty, Loading, PageHead, Problem, RiskBadge } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { prettyJson } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

async function loadTools(): Promise<readonly Tool[]> {
  const { tools } = await daemon.call('ToolService/ListAvailableTools', {});
  return tools.toSorted((a, b) => compareNaturally(a.name, b.name));
}

/** What can be called in the present mode, and what keeps the rest from it. */
export function ToolsPage() {
  const changes = useValue(useGate().changes);
  const { mode = '' } = useValue(useGate().status) ?? {};
  const { value, trouble, reload } = useLoaded(loadTools, `${changes.tools} ${mode}`);
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const matching = value?.filter(({ name, description, category }) =>
    `${name}\n${description}\n${category}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <PageHead title="Tools">
        <div className="filters" role="search">
          <input
            type="search"
            aria-label="Filter the tools"
            placeholder="Filter the tools"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      </PageHead>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {matching === undefined && trouble === undefined && <Loading what="the tools" />}
      {matching?.length === 0 && <Empty title="No tool fits the filter" />}
      <ul className="rows">
        {matching?.map((tool) => (
          <ToolLine key={tool.name} tool={tool} />
        ))}
      </ul>
    </>
  );
}

function ToolLine({ tool }: { readonly tool: Tool }) {
  const { name, version, description, risk, mutates, status } = tool;
  const { statusReason, origin, aliases, inputSchemaJson } = tool;
  return (
    <li>
      <details>
        <summary className="line">
          <span className={`badge badge-${status === 'ready' ? 'ok' : 'denied'}`}>{status}</span>
          <span className="line-main">
            <code>
              <Visible text={name} />
            </code>{' '}
            <span className="muted">{version}</span>
            <span className="block">
              <Visible text={description} />
            </span>
            {statusReason !== '' && (
              <span className="block problem">
                <Visible text={statusReason} />
              </span>
            )}
          </span>
          <span className="line-end">
            {mutates && <span className="badge badge-calm">changes things</span>} <RiskBadge risk={risk} />
          </span>
        </summary>
        <div className="record-detail">
          <p className="muted">
            {origin}
            {aliases.length > 0 && ` · also called ${aliases.join(', ')}`}
          </p>
          <pre className="json" tabIndex={0} aria-label={`Arguments of ${name}`}>
            <Visible text={prettyJson(inputSchemaJson)} />
          </pre>
        </div>
      </details>
    </li>
  );
}
