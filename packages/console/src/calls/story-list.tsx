import { memo, useCallback } from 'react';
import { OutcomeBadge } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { useIsNarrow, VirtualRows } from '../shell/virtual-rows.tsx';
import { formatDuration, formatShortTime } from '../text/format.ts';
import { useToday } from '../live/use-live.ts';
import { Visible } from '../text/visible.tsx';
import type { Story } from './story.ts';

export interface StoryListProps {
  readonly stories: readonly Story[];
  readonly openId: string;
  readonly query: string;
  readonly onNearEnd: (() => void) | undefined;
}

const rowHeight = 38;
const narrowRowHeight = 66;

/** One row a story, as a sentence. */
export function StoryList({ stories, openId, query, onNearEnd }: StoryListProps) {
  const isNarrow = useIsNarrow();
  const todayMs = useToday();
  const render = useCallback(
    (at: number) => {
      const story = stories[at];
      return (
        story && (
          <StoryRow
            story={story}
            isOpen={story.calls.some(({ id }) => id === openId)}
            query={query}
            todayMs={todayMs}
          />
        )
      );
    },
    [stories, openId, query, todayMs],
  );
  return (
    <VirtualRows
      label="Calls"
      count={stories.length}
      rowHeight={isNarrow ? narrowRowHeight : rowHeight}
      keyOf={(at) => stories[at]?.key ?? String(at)}
      render={render}
      {...(onNearEnd === undefined ? {} : { onNearEnd })}
    />
  );
}

interface StoryRowProps {
  readonly story: Story;
  readonly isOpen: boolean;
  readonly query: string;
  readonly todayMs: number;
}

const StoryRow = memo(function StoryRow({ story, isOpen, query, todayMs }: StoryRowProps) {
  const { head, told, outcome, steps } = story;
  const { verb, object, detail } = told;
  return (
    <a className="line line-story" href={linkTo('calls', head.id, query)} aria-current={isOpen ? 'true' : undefined}>
      <time className="muted">{formatShortTime(head.startedAtMs, todayMs)}</time>
      <OutcomeBadge outcome={outcome} />
      <span className="story-agent">
        <Visible text={head.agent || 'nobody known'} />
      </span>
      <span className="story-text">
        {verb}{' '}
        <strong>
          <Visible text={object} />
        </strong>
        {detail !== '' && (
          <span className="muted">
            , <Visible text={detail} />
          </span>
        )}
      </span>
      <span className="story-steps muted">
        {steps.length > 1
          ? steps.map(({ name }) => name).join(' → ')
          : head.durationMs === undefined
            ? ''
            : formatDuration(head.durationMs)}
      </span>
    </a>
  );
});
