import { useCallback, useState } from 'react';
import type { InJson, UpstreamList, UpstreamLog } from '@sallyport/contract';
import { callTool } from '../daemon/call-tool.ts';
import type { InstalledTool, Upstream } from '../daemon/messages.ts';
import { DiffView } from '../inbox/diff-view.tsx';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Copyable } from '../shell/copyable.tsx';
import { Empty, Fact, Loading, PageHead, Problem, RiskBadge } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { ValuesForm } from '../shell/values-form.tsx';
import { formatCount, formatTime, readJson } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

const loadUpstreams = (): Promise<InJson<UpstreamList>> => callTool<InJson<UpstreamList>>('upstreams.list', {});

/** MCP servers behind the gate: whether they run, what they offer, and what waits to be accepted. */
export function UpstreamsPage({ name }: { readonly name: string }) {
  const { tools } = useValue(useGate().changes);
  const { value, trouble, reload } = useLoaded(loadUpstreams, tools);
  return (
    <>
      <PageHead title="Upstreams" />
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {value === undefined && trouble === undefined && <Loading what="the upstreams" />}
      {value?.mistakes.map(({ file, reason }) => (
        <p key={file} className="problem">
          <Visible text={`${file}: ${reason}`} />
        </p>
      ))}
      {value?.upstreams.length === 0 && (
        <Empty title="No server is behind the gate yet">
          <p>Agents reach MCP servers through the gate, with the same rules and the same log. To add one:</p>
          <Copyable label="Command" text="npx sallyport upstream add NAME --npm PACKAGE" />
          <p>
            <code>npx sallyport upstream catalogue</code> lists servers that are known to work.
          </p>
        </Empty>
      )}
      <ul className="rows" aria-label="Upstreams">
        {value?.upstreams.map((upstream) => (
          <UpstreamLine
            key={upstream.name}
            upstream={upstream}
            isFirstOpen={upstream.name === name || value.upstreams.length === 1}
          />
        ))}
      </ul>
    </>
  );
}

function UpstreamLine({ upstream, isFirstOpen }: { readonly upstream: Upstream; readonly isFirstOpen: boolean }) {
  const [isOpen, setIsOpen] = useState(isFirstOpen);
  const { name, kind, state, trouble, server, tools, pending } = upstream;
  const isWell = trouble === '' && state !== 'failed';
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary className="line">
          <span className={`badge badge-${isWell ? 'ok' : 'denied'}`}>{state}</span>
          <span className="line-main">
            <strong>
              <Visible text={name} />
            </strong>{' '}
            <span className="muted">
              {kind} <Visible text={server} />
            </span>
            {trouble !== '' && (
              <span className="block problem">
                <Visible text={trouble} />
              </span>
            )}
          </span>
          <span className="line-end">
            {pending > 0 && <span className="badge badge-waiting">{pending} to accept</span>}{' '}
            {formatCount(tools, 'tool')}
          </span>
        </summary>
        {isOpen && <UpstreamDetail name={name} />}
      </details>
    </li>
  );
}

function UpstreamDetail({ name }: { readonly name: string }) {
  const { tools } = useValue(useGate().changes);
  const load = useCallback(() => callTool<Upstream>('upstreams.show', { name }), [name]);
  const { value, trouble, reload } = useLoaded(load, tools);
  const { run, dialog, trouble: failed } = useGovernedCall();
  if (value === undefined)
    return trouble ? <Problem trouble={trouble} onRetry={reload} /> : <Loading what="the upstream" />;
  const { toolList, pending, pendingSha256, endpointJson, file, protocol } = value;
  const groups = Map.groupBy(toolList, ({ status }) => (status === 'ready' ? 'Accepted' : 'Wait to be accepted'));
  return (
    <div className="record-detail">
      {dialog}
      {failed && <Problem trouble={failed} />}
      {pending > 0 && (
        <section className="block-section" aria-label="Acceptance">
          <p>
            <strong>{formatCount(pending, 'tool')} of this server must be accepted before agents can call them.</strong>{' '}
            Read below what each says about itself: agents read the same words.
          </p>
          <div className="form-actions">
            <button
              type="button"
              className="primary"
              onClick={() => void run('upstreams.accept', { name, sha256: pendingSha256 }).then(reload)}
            >
              Accept {formatCount(pending, 'tool')} as they are now
            </button>
          </div>
        </section>
      )}
      {(['Wait to be accepted', 'Accepted'] as const).map((title) => {
        const group = groups.get(title) ?? [];
        return (
          group.length > 0 && (
            <section key={title}>
              <h3>
                {title} <span className="muted">{group.length}</span>
              </h3>
              <ul className="offers">
                {group.map((tool) => (
                  <Offer key={tool.name} tool={tool} />
                ))}
              </ul>
            </section>
          )
        );
      })}
      <section>
        <h3>How it is reached</h3>
        <ValuesForm value={readEndpoint(endpointJson)} label="How it is reached" />
      </section>
      <dl className="facts">
        {protocol !== '' && <Fact name="protocol">{protocol}</Fact>}
        <Fact name="file">
          <Visible text={file} />
        </Fact>
        <Fact name="calls">
          <a href={linkTo('calls', '', `tool:${name}.*`)}>calls of its tools</a>
        </Fact>
      </dl>
      <ServerLog name={name} />
    </div>
  );
}

/** Without what is empty: it is allowed nothing of that kind. */
function readEndpoint(json: string): unknown {
  const endpoint = readJson(json);
  if (typeof endpoint !== 'object' || endpoint === null) return json;
  return Object.fromEntries(
    Object.entries(endpoint)
      .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
      .map(([name, value]: [string, unknown]) => [
        name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
        value,
      ]),
  );
}

function Offer({ tool }: { readonly tool: InstalledTool }) {
  const { name, status, reason, description, risk, mutates, difference } = tool;
  return (
    <li className="offer">
      <p>
        <code>
          <Visible text={name} />
        </code>{' '}
        <RiskBadge risk={risk} /> {mutates && <span className="badge badge-calm">changes things</span>}
        {status !== 'ready' && <span className="badge badge-waiting">{status}</span>}
      </p>
      <p>
        <Visible text={description} />
      </p>
      {reason !== '' && (
        <p className="muted">
          <Visible text={reason} />
        </p>
      )}
      {difference !== '' && (
        <details className="fold">
          <summary>{status === 'changed' ? 'What it changed about itself' : 'All that it says about itself'}</summary>
          <DiffView text={difference} label={`What ${name} says about itself`} />
        </details>
      )}
    </li>
  );
}

function ServerLog({ name }: { readonly name: string }) {
  const nowMs = useNowMs();
  const [isOpen, setIsOpen] = useState(false);
  const load = useCallback(
    async () => (isOpen ? (await callTool<InJson<UpstreamLog>>('upstreams.logs', { name })).lines : []),
    [name, isOpen],
  );
  const { value, trouble, reload } = useLoaded(load);
  return (
    <details className="fold" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>What it wrote to its log</summary>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {isOpen && value?.length === 0 && <p className="muted">Nothing so far.</p>}
      {value !== undefined && value.length > 0 && (
        <pre className="json" tabIndex={0} aria-label={`Log of ${name}`}>
          {value.map(({ number, atMs, text }) => (
            <span key={number} className="block">
              <span className="muted">{formatTime(Number(atMs), nowMs)}</span> <Visible text={text} />
            </span>
          ))}
        </pre>
      )}
    </details>
  );
}
