import { useEffect, useRef } from 'react';
import type { InboxItem } from '../live/inbox.ts';
import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { Countdown } from './approval-card.tsx';

export interface InboxListProps {
  readonly items: readonly InboxItem[];
  readonly selected: InboxItem;
  readonly onSelect: (item: InboxItem) => void;
}

/** How many are drawn at once; the rest moves up as these are decided. */
const mostShown = 100;

export function InboxList({ items, selected, onSelect }: InboxListProps) {
  const list = useRef<HTMLUListElement>(null);
  const at = items.indexOf(selected);
  const from = Math.max(0, Math.min(at - mostShown / 2, items.length - mostShown));
  const shown = items.slice(from, from + mostShown);
  useEffect(() => {
    list.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [selected.id]);
  return (
    <div className="inbox-list">
      <p className="inbox-hint">
        {formatCount(items.length, 'request')}{' '}
        <span className="keys-hint">
          <kbd>j</kbd> <kbd>k</kbd> to move
        </span>
      </p>
      <ul ref={list} aria-label="Waiting requests">
        {shown.map((item) => (
          <li key={item.id}>
            <button type="button" aria-current={item === selected} onClick={() => onSelect(item)}>
              <ItemLine item={item} />
            </button>
          </li>
        ))}
      </ul>
      {items.length > shown.length && <p className="muted">and {items.length - shown.length} more</p>}
    </div>
  );
}

function ItemLine({ item }: { readonly item: InboxItem }) {
  if (item.kind === 'plan') {
    return (
      <>
        <span className="item-top">
          <code>plan of {item.plan.steps.length}</code>
          <Countdown expiresAtMs={Number(item.plan.expiresAtMs)} />
        </span>
        <span className="item-title">
          “<Visible text={item.plan.summary} />”
        </span>
        <span className="item-who">
          <Visible text={item.plan.agent} />
        </span>
      </>
    );
  }
  const { tool, title, agent, expiresAtMs, wanted, risk, hold } = item.approval;
  return (
    <>
      <span className="item-top">
        <code>{tool}</code>
        <Countdown expiresAtMs={Number(expiresAtMs)} />
      </span>
      <span className="item-title">
        <Visible text={title} />
      </span>
      <span className="item-who">
        <Visible text={agent} /> · {risk}
        {wanted > 1 && ` · ${wanted} times`}
        {hold !== '' && ' · cannot be approved'}
      </span>
    </>
  );
}
