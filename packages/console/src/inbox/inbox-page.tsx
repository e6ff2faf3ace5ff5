import { useEffect, useRef, useState } from 'react';
import type { InboxItem } from '../live/inbox.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Loading, PageHead } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { Visible } from '../text/visible.tsx';
import { DecidedList } from './decided-list.tsx';
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
  const { items, decided } = useValue(useGate().inbox.view);
  return (
    <>
      <PageHead title="Approvals">
        <nav className="tabs" aria-label="Approvals">
          {tabs.map(({ part: each, title }) => (
            <a key={each} href={linkTo('approvals', each)} aria-current={tab.part === each ? 'page' : undefined}>
              {title}
              {each === '' && items.length > 0 && <span className="count">{items.length}</span>}
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
  const { isLoaded, items, decided } = useValue(useGate().inbox.view);
  const [selectedId, setSelectedId] = useState(wantedId);
  const [isByKey, setIsByKey] = useState(false);
  const [notice, setNotice] = useState('');
  const place = useRef(0);
  const selected = items.find(({ id }) => id === selectedId) ?? items[Math.min(place.current, items.length - 1)];

  useEffect(() => {
    if (wantedId !== '') setSelectedId(wantedId);
  }, [wantedId]);
  useEffect(() => {
    // Whatever takes the place of what went away is looked at next.
    if (selected === undefined) return;
    place.current = items.indexOf(selected);
    setSelectedId(selected.id);
  }, [items, selected]);

  const select = (item: InboxItem | undefined, byKey: boolean): void => {
    if (item === undefined) return;
    setIsByKey(byKey);
    setSelectedId(item.id);
    setNotice('');
  };

  if (!isLoaded) return <Loading what="what waits for you" />;
  return (
    <>
      <p className="notice" role="status">
        {notice !== '' && <Visible text={notice} />}
      </p>
      {selected === undefined ? (
        <FirstSteps hasDecided={decided.length > 0} />
      ) : (
        <div className="inbox">
          <InboxList items={items} selected={selected} onSelect={(item) => select(item, false)} />
          <InboxDetail
            key={selected.id}
            item={selected}
            takesFocus={isByKey}
            onMove={(by) => select(items[items.indexOf(selected) + by], true)}
            onDecided={setNotice}
          />
        </div>
      )}
    </>
  );
}
