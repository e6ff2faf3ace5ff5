import { useCallback } from 'react';
import { daemon } from '../daemon/connect.ts';
import { searchAudit } from '../daemon/search-audit.ts';
import { addRecord } from '../live/call.ts';
import type { Call } from '../live/call.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Empty, Loading, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { Visible } from '../text/visible.tsx';
import { CallDetail, CloseLink } from './call-detail.tsx';
import { groupStories } from './story.ts';
import type { Story } from './story.ts';

interface CallStoryProps {
  readonly callId: string;
  /** Those of the list: the call is probably among them. */
  readonly stories: readonly Story[];
  readonly query: string;
}

/** One call with all that belongs to it, read from the log: a link to it resolves however old it is. */
export function CallStory({ callId, stories, query }: CallStoryProps) {
  const listed = stories.find(({ calls }) => calls.some(({ id }) => id === callId));
  const { calls: live } = useValue(useGate().log.view);
  const load = useCallback(() => readStory(callId), [callId]);
  // A call that runs, or waits, changes; one that is listed has changed when its list has.
  const version = `${listed?.calls.length ?? 0} ${live.find(({ id }) => id === callId)?.records.length ?? 0}`;
  const { value, trouble } = useLoaded(load, version);
  const story = value?.story ?? listed;
  if (story !== undefined) return <CallDetail story={story} callId={callId} query={query} />;
  return (
    <section className="detail" aria-label="Call">
      <CloseLink query={query} />
      {trouble ? (
        <Problem trouble={trouble} />
      ) : value === undefined ? (
        <Loading what="the call" />
      ) : (
        <Empty title="There is no such call">
          <p>
            Nothing is on record about <Visible text={callId} />.
          </p>
        </Empty>
      )}
    </section>
  );
}

async function readStory(callId: string): Promise<{ readonly story: Story | undefined }> {
  const { records } = await daemon.call('OperatorService/ReadAudit', { callId });
  const call = records.reduce<Call | undefined>((known, record) => addRecord(known, record), undefined);
  if (call === undefined) return { story: undefined };
  const others = call.taskId === '' ? [] : await readTask(call.taskId);
  const calls = new Map([...others, call].map((each) => [each.id, each]));
  return { story: groupStories(calls.values()).find((story) => story.calls.some(({ id }) => id === callId)) };
}

async function readTask(taskId: string): Promise<readonly Call[]> {
  const answer = await searchAudit(`task:${taskId} kind:call,event`, { limit: 50 });
  return answer.entries.flatMap(({ records }) => {
    const call = records.reduce<Call | undefined>((known, record) => addRecord(known, record), undefined);
    return call === undefined || call.id === '' ? [] : [call];
  });
}
