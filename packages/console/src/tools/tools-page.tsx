import { useState } from 'react';
import { compareNaturally } from '@sallyport/contract/natural-order';
import { daemon } from '../daemon/connect.ts';
import type { Tool } from '../daemon/messages.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Empty, Loading, PageHead, Problem, RiskBadge } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { Visible } from '../text/visible.tsx';
import { Parameters } from './parameters.tsx';

async function loadTools(): Promise<readonly Tool[]> {
  const { tools } = await daemon.call('ToolService/ListAvailableTools', {});
  return tools.toSorted((a, b) => compareNaturally(a.name, b.name));
}

/** What can be called in the current mode, and why the other tools cannot. */
export function ToolsPage() {
  const changes = useValue(useGate().changes);
  const { mode = '' } = useValue(useGate().status) ?? {};
  const { value, trouble, reload } = useLoaded(loadTools, `${changes.tools} ${mode}`);
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const matching = value?.filter(({ name, description, category }) =>
    `${name}\n${description}\n${category}`.toLowerCase().includes(wanted),
  );
  const found = Map.groupBy(matching ?? [], groupOf);
  const groups = [...found].toSorted(([a], [b]) => Number(a === lastGroup) - Number(b === lastGroup));
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
      {matching?.length === 0 && (
        <Empty title="No tool fits the filter">
          <p>
            <button type="button" onClick={() => setText('')}>
              Show all tools
            </button>
          </p>
        </Empty>
      )}
      {[...groups].map(([group, tools]) => (
        <section key={group} aria-label={group} className="tool-group">
          <h2>
            <Visible text={group} /> <span className="muted">{tools.length}</span>
          </h2>
          <ul className="rows">
            {tools.map((tool) => (
              <ToolLine key={tool.name} tool={tool} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

const originTitles: Readonly<Record<string, string>> = {
  builtin: 'Built in',
  executable: 'Programs of yours',
  configured: 'Configured by you',
  pipeline: 'Pipelines',
  client: 'Of coding agents',
};

/** Those for agents come first; those with which people run the gate are one group at the end. */
function groupOf({ origin, category, name }: Tool): string {
  if (origin === 'upstream') return `Upstream ${name.split('.')[0] ?? ''}`;
  if (category === 'administration') return 'For running the gate';
  return originTitles[origin] ?? originTitles['builtin'] ?? origin;
}

const lastGroup = 'For running the gate';

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
          <Parameters schemaJson={inputSchemaJson} name={name} />
          <p>
            <a href={linkTo('calls', '', `tool:${name}`)}>Calls of it</a>
          </p>
        </div>
      </details>
    </li>
  );
}
