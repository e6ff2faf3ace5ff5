import { useEffect, useState } from 'react';
import type { FormEvent } from 'react';
import { isBeingIndexed } from '../daemon/indexed-part.ts';
import { Empty, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { go, linkTo } from '../shell/use-route.ts';
import { useKeys } from '../inbox/use-keys.ts';
import { CallStory } from './call-story.tsx';
import { StoryList } from './story-list.tsx';
import { agentsFilter, useStories } from './use-stories.ts';

const whoTabs = [
  { title: 'Agents', filter: agentsFilter },
  { title: 'People', filter: 'about:people' },
  { title: 'Everything', filter: '' },
] as const;
const quickFilters = ['status:denied', 'status:pending', 'status:error', 'since:24h'] as const;
const fieldHint = 'agent:  tool:  path:  host:  status:  rule:  code:  trace:  since:  or any word';

/** What agents did, one row a story, with the search of `audit search`. The query is in the address. */
export function CallsPage({ callId, query }: { readonly callId: string; readonly query: string }) {
  const who = whoOf(query);
  const words = query.replace(/(?:^|\s)(?:about|kind):\S+/g, '').trim();
  const filter = [who, words].filter(Boolean).join(' ');
  const { stories, isLoading, loadMore, trouble, isFull, indexed } = useStories(filter);
  const ask = (nextWho: string, nextWords: string): void => {
    const parts = [nextWho === agentsFilter ? '' : nextWho === '' ? 'kind:call,event' : nextWho, nextWords.trim()];
    go(linkTo('calls', '', parts.filter(Boolean).join(' ')));
  };
  useKeys((key) => {
    if (key !== 'Escape' || callId === '') return false;
    go(linkTo('calls', '', query));
    return true;
  });
  return (
    <>
      <PageHead title="Calls">
        <nav className="tabs" aria-label="Whose calls">
          {whoTabs.map(({ title, filter: each }) => (
            <button key={title} type="button" aria-pressed={each === who} onClick={() => ask(each, words)}>
              {title}
            </button>
          ))}
        </nav>
        <SearchForm key={words} words={words} onSearch={(text) => ask(who, text)} />
      </PageHead>
      <p className="quick" role="group" aria-label="Filters">
        {quickFilters.map((each) => {
          const isOn = words.split(/\s+/).includes(each);
          return (
            <button key={each} type="button" aria-pressed={isOn} onClick={() => ask(who, toggle(words, each))}>
              {each}
            </button>
          );
        })}
        {isBeingIndexed(indexed) && (
          <span className="muted">The search index is being built: {Math.floor(indexed * 100)} %.</span>
        )}
      </p>
      {trouble && <Problem trouble={trouble} />}
      <div className={`split${callId === '' ? '' : ' split-open'}`}>
        <div className="split-list">
          {isLoading && trouble === undefined && <Loading what="the calls" />}
          {!isLoading && stories.length === 0 && <NoCalls isFiltered={words !== '' || who !== agentsFilter} />}
          {stories.length > 0 && <StoryList stories={stories} openId={callId} query={query} onNearEnd={loadMore} />}
          {isFull && (
            <p className="muted list-note">
              Older calls are not listed here. To see them, add a time to the search, such as <code>until:2d</code>.
            </p>
          )}
        </div>
        {callId !== '' && <CallStory key={callId} callId={callId} stories={stories} query={query} />}
      </div>
    </>
  );
}

function whoOf(query: string): string {
  if (query.includes('about:people')) return 'about:people';
  return query.includes('kind:call,event') ? '' : agentsFilter;
}

function toggle(words: string, filter: string): string {
  const parts = words.split(/\s+/);
  return (parts.includes(filter) ? parts.filter((each) => each !== filter) : [...parts, filter]).join(' ');
}

function SearchForm({ words, onSearch }: { readonly words: string; readonly onSearch: (text: string) => void }) {
  const [text, setText] = useState(words);
  // Somebody who writes is not asked to press Enter; each letter is not a search either.
  useEffect(() => {
    if (text.trim() === words) return undefined;
    const timer = setTimeout(() => onSearch(text), 700);
    return () => clearTimeout(timer);
  }, [text]);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onSearch(text);
  };
  return (
    <form className="filters" role="search" onSubmit={send}>
      <input
        type="search"
        aria-label="Search the calls"
        placeholder="agent:scout status:denied, or any word"
        title={fieldHint}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}

function NoCalls({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No call fits the search">
        <p>
          Fields can be mixed with words: <code>{fieldHint}</code>
        </p>
        <p>
          <a href={linkTo('calls')}>Show all calls of agents</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No calls yet">
      <p>Every call of every agent appears here as it happens: what it was, what the gate decided, and how it ended.</p>
      <p>
        <a href={linkTo('sessions', 'new')}>Let an agent in</a> to see the first one.
      </p>
    </Empty>
  );
}
