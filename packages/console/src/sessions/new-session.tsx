import { useState } from 'react';
import type { FormEvent } from 'react';
import { clientConfigurations } from '../clients/configurations.ts';
import { callTool } from '../daemon/call-tool.ts';
import type { Newcomer } from '../live/gate.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Copyable } from '../shell/copyable.tsx';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';

const ends = [
  ['', 'until it is ended'],
  ['60', 'for an hour'],
  ['480', 'for eight hours'],
  ['10080', 'for a week'],
] as const;

/** Lets an agent in. The token is shown this once, in the configuration of each client; the first call to try with it asks for approval. */
export function NewSession({ label = 'Let an agent in' }: { readonly label?: string }) {
  const [agent, setAgent] = useState('my-agent');
  const [minutes, setMinutes] = useState('');
  const [calls, setCalls] = useState('');
  const { newcomer } = useGate();
  const created = useValue(newcomer);
  const [trouble, setTrouble] = useState<Trouble>();
  const create = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setTrouble(undefined);
    try {
      const limits = {
        ...(minutes === '' ? {} : { expires_in_minutes: Number(minutes) }),
        ...(calls === '' ? {} : { max_calls: Number(calls) }),
      };
      newcomer.set(await callTool<Newcomer>('sessions.create', { agent: agent.trim(), ...limits }));
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  if (created !== undefined) return <Welcome created={created} onDone={() => newcomer.set(undefined)} />;
  return (
    <form className="inline-form" onSubmit={(event) => void create(event)}>
      <label>
        Name of the agent
        <input
          type="text"
          required
          maxLength={128}
          pattern="[A-Za-z0-9._@\-]+"
          title="Letters, digits, and any of . _ @ -"
          value={agent}
          onChange={(event) => setAgent(event.target.value)}
        />
      </label>
      <label>
        How long
        <select value={minutes} onChange={(event) => setMinutes(event.target.value)}>
          {ends.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label>
        At most so many calls
        <input
          type="number"
          min={1}
          max={1_000_000_000}
          placeholder="any number"
          value={calls}
          onChange={(event) => setCalls(event.target.value)}
        />
      </label>
      <button type="submit" className="primary">
        {label}
      </button>
      {trouble && <Problem trouble={trouble} />}
    </form>
  );
}

function Welcome({ created: { agent, token }, onDone }: { readonly created: Newcomer; readonly onDone: () => void }) {
  return (
    <div className="welcome">
      <p>
        <strong>{agent}</strong> may come in with this token, which is shown this once:
      </p>
      <Copyable label="Token" text={token} />
      {clientConfigurations(token).map(({ title, note, text }, at) => (
        <details key={title} className="fold" open={at === 0}>
          <summary>
            {title} <span className="muted">{note}</span>
          </summary>
          <Copyable label={`Configuration for ${title}`} text={text} />
        </details>
      ))}
      <p>
        To see how it asks you, act as the agent. Run this in a terminal; it waits for your answer in{' '}
        <strong>Approvals</strong>:
      </p>
      <Copyable label="A first call" text={firstCall(token)} />
      <p>
        <button type="button" onClick={onDone}>
          Done
        </button>
      </p>
    </div>
  );
}

/** A write that the shipped rules ask about, because editors run files there. */
function firstCall(token: string): string {
  const body = `{"tool_name": "files.write", "wait_ms": 240000, "arguments": {
    "path": ".devcontainer/hello.md", "content": "Hello from an agent.\\n", "create_parents": true}}`;
  return [
    `curl -sS ${location.origin}/v1/calls \\`,
    `  -H 'authorization: Bearer ${token}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}
