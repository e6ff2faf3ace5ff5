import { useGate, useValue } from '../live/use-live.ts';
import { NewSession } from '../sessions/new-session.tsx';
import { Empty } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';

/** Shown when nothing waits: the shortest way to a first request. */
export function FirstSteps({ hasDecided }: { readonly hasDecided: boolean }) {
  const gate = useGate();
  const { calls } = useValue(gate.log.view);
  const isGreeting = useValue(gate.newcomer) !== undefined;
  const hasAgents = calls.some(({ principal }) => principal === 'agent');
  return (
    <Empty title="Nothing waits for you">
      <p>
        When an agent wants to do something that needs a person, it appears here, with exactly what would happen. You
        answer with one key.
      </p>
      {(hasDecided || hasAgents) && (
        <p>
          <a href={linkTo('calls')}>See the calls</a> that went through.
        </p>
      )}
      {(isGreeting || !(hasDecided || hasAgents)) && (
        <div className="first-steps">
          <h3>{isGreeting ? 'Your new agent' : 'See it work'}</h3>
          {!isGreeting && (
            <p>Name an agent. You get a token for it, and a first call to try, which will ask you here.</p>
          )}
          <NewSession label="Let a first agent in" />
        </div>
      )}
    </Empty>
  );
}
