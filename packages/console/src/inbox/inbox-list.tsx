import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import type { FoldedItem } from '../live/fold-items.ts';
import type { InboxItem } from '../live/inbox.ts';
import { useIsNarrow, VirtualRows } from '../shell/virtual-rows.tsx';
import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { Countdown } from './approval-card.tsx';

export interface InboxListProps {
  readonly folds: readonly FoldedItem[];
  /** Of requests, folded or not, and also those that are not known yet. */
  readonly count: number;
  readonly selected: FoldedItem;
  readonly onSelect: (fold: FoldedItem) => void;
  /** The end of the list came near: there may be more. */
  readonly onNearEnd: () => void;
}

const rowHeight = 106;
const nearRows = 30;

/** What waits, identical requests as one. Of thousands only those in view are drawn. */
export function InboxList({ folds, count, selected, onSelect, onNearEnd }: InboxListProps) {
  const isNarrow = useIsNarrow(900);
  const at = folds.indexOf(selected);
  // Also where somebody moves by key, or on a phone.
  const isNearEnd = at + nearRows > folds.length;
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, folds.length, onNearEnd]);
  const line = (fold: FoldedItem) => (
    <button type="button" aria-current={fold === selected} onClick={() => onSelect(fold)}>
      <ItemLine item={fold[0]} others={fold.slice(1)} />
    </button>
  );
  return (
    <div className="inbox-list">
      <p className="inbox-hint">
        {formatCount(count, 'request')}{' '}
        <span className="keys-hint">
          <kbd>j</kbd> <kbd>k</kbd> to move
        </span>
      </p>
      {isNarrow ? (
        <NarrowList folds={folds} at={at} line={line} />
      ) : (
        <div className="inbox-scroll" data-scroller>
          <VirtualRows
            label="Waiting requests"
            count={folds.length}
            rowHeight={rowHeight}
            keyOf={(index) => folds[index]?.[0].id ?? String(index)}
            render={(index) => {
              const fold = folds[index];
              return fold && line(fold);
            }}
            shownAt={at}
            onNearEnd={onNearEnd}
          />
        </div>
      )}
    </div>
  );
}

/** Around the one that is shown; the rest moves up as these are decided. */
const mostNarrow = 30;

interface NarrowListProps {
  readonly folds: readonly FoldedItem[];
  readonly at: number;
  readonly line: (fold: FoldedItem) => ReactNode;
}

/** On a phone: one line of names, to be pushed sideways. */
function NarrowList({ folds, at, line }: NarrowListProps) {
  const list = useRef<HTMLUListElement>(null);
  const from = Math.max(0, Math.min(at - mostNarrow / 2, folds.length - mostNarrow));
  useEffect(() => {
    list.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [at]);
  return (
    <ul ref={list} aria-label="Waiting requests">
      {folds.slice(from, from + mostNarrow).map((fold) => (
        <li key={fold[0].id}>{line(fold)}</li>
      ))}
    </ul>
  );
}

function ItemLine({ item, others }: { readonly item: InboxItem; readonly others: readonly InboxItem[] }) {
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
        <Visible text={agent} />
        {others.length > 0 && ` and ${others.length} more`} · {risk}
        {wanted > 1 && ` · ${wanted} times`}
        {hold !== '' && ' · cannot be approved'}
      </span>
    </>
  );
}
