import { Copyable } from '../shell/copyable.tsx';
import { PageHead } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { clientConfigurations } from './configurations.ts';
import { Coverage } from './coverage.tsx';

/** Which programs reach the gate, and how to connect more of them. */
export function ClientsPage() {
  return (
    <>
      <PageHead title="Clients" />
      <Coverage />
      <h2>Connect a client</h2>
      <p className="list-note">
        An agent comes in through a program such as Claude Code or Codex. To set up the clients on this machine, so that
        their own tools are judged by the gate too, run:
      </p>
      <Copyable label="Command" text="npx sallyport init" />
      <p className="muted list-note">
        It shows each change to their settings and asks. <code>npx sallyport init --undo</code> takes the changes back.
      </p>
      <h2>By hand</h2>
      <p className="list-note">
        Put a token in place of TOKEN. You get one when you <a href={linkTo('sessions', 'new')}>let an agent in</a>.
      </p>
      {clientConfigurations('TOKEN').map(({ title, text, note }) => (
        <section key={title} className="client" aria-label={title}>
          <h3>{title}</h3>
          <p className="muted">{note}</p>
          <Copyable label={`Configuration for ${title}`} text={text} />
        </section>
      ))}
    </>
  );
}
