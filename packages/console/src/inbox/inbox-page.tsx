import { useEffect, useMemo, useRef, useState } from 'react';
import { foldItems } from '../live/fold-items.ts';
import type { FoldedItem } from '../live/fold-items.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Loading, PageHead } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { Visible } from '../text/visible.tsx';
import { DecidedList } from './decided-list.tsx';
import { GoneRequest } from './gone-request.tsx';
import { FirstSteps } from './first-steps.tsx';
import { InboxDetail } from './inbox-detail.tsx';
import { InboxList } from './inbox-list.tsx';
import { StandingList } from './standing-list.tsx';

const tabs = [
  { part: '', title: 'Waiting' },
  { part: 'standing', title: 'Standing' },
  { part: 'decided', title: 'Decided' },
] as const;

/** Where people decide. `part` is one of the tabs, or the id of what to look at. */
export function InboxPage({ part }: { readonly part: string }) {
  const tab = tabs.find((each) => each.part !== '' && each.part === part) ?? tabs[0];
  const { count, decided } = useValue(useGate().inbox.view);
  return (
    <>
      <PageHead title="Approvals">
        <nav className="tabs" aria-label="Approvals">
          {tabs.map(({ part: each, title }) => (
            <a key={each} href={linkTo('approvals', each)} aria-current={tab.part === each ? 'page' : undefined}>
              {title}
              {each === '' && count > 0 && <span className="count">{count.toLocaleString('en')}</span>}
            </a>
          ))}
        </nav>
      </PageHead>
      {tab.part === '' && <Waiting wantedId={part} />}
      {tab.part === 'standing' && <StandingList />}
      {tab.part === 'decided' && <DecidedList decided={decided} />}
    </>
  );
}

function Waiting({ wantedId }: { readonly wantedId: string }) {
  const { inbox, loadMoreApprovals } = useGate();
  const { isLoaded, items, count, decided } = useValue(inbox.view);
  const folds = useMemo(() => foldItems(items), [items]);
  const [selectedId, setSelectedId] = useState(wantedId);
  const [isByKey, setIsByKey] = useState(false);
  const [notice, setNotice] = useState('');
  const place = useRef(0);
  const found = folds.find((fold) => fold.some(({ id }) => id === selectedId));
  const selected = found ?? folds[Math.min(place.current, folds.length - 1)];
  // What is decided here gives way to the next; only a link from elsewhere can come too late.
  const seenId = useRef('');
  if (found !== undefined) seenId.current = selectedId;
  const isGone =
    wantedId !== '' && isLoaded && found === undefined && selectedId === wantedId && seenId.current !== wantedId;

  useEffect(() => {
    if (wantedId !== '') setSelectedId(wantedId);
  }, [wantedId]);
  useEffect(() => {
    // Whatever takes the place of what went away is looked at next.
    if (selected === undefined || isGone) return;
    place.current = folds.indexOf(selected);
    setSelectedId(selected[0].id);
  }, [folds, selected, isGone]);

  const select = (fold: FoldedItem | undefined, byKey: boolean): void => {
    if (fold === undefined) return;
    setIsByKey(byKey);
    setSelectedId(fold[0].id);
    setNotice('');
  };

  if (!isLoaded) return <Loading what="what waits for you" />;
  return (
    <>
      <p className="notice" role="status">
        {notice !== '' && <Visible text={notice} />}
      </p>
      {isGone && <GoneRequest id={wantedId} onGoOn={() => setSelectedId('')} />}
      {isGone ? null : selected === undefined ? (
        <FirstSteps hasDecided={decided.length > 0} />
      ) : (
        <div className="inbox">
          <InboxList
            folds={folds}
            count={count}
            selected={selected}
            onSelect={(fold) => select(fold, false)}
            onNearEnd={loadMoreApprovals}
          />
          <InboxDetail
            key={selected[0].id}
            item={selected[0]}
            others={selected.slice(1)}
            takesFocus={isByKey}
            onMove={(by) => select(folds[folds.indexOf(selected) + by], true)}
            onDecided={setNotice}
          />
        </div>
      )}
    </>
  );
}
