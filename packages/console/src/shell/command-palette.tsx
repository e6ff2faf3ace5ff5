import { useEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { useGate, useValue } from '../live/use-live.ts';
import { Visible } from '../text/visible.tsx';
import { pageList } from './pages.ts';
import { go, linkTo } from './use-route.ts';

interface Choice {
  readonly title: string;
  readonly about: string;
  readonly link: string;
}

const mostShown = 12;

/** Goes anywhere by a few letters: pages, what waits, agents, and the search over everything on record. */
export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  const choices = useChoices(text.trim());
  const chosen = Math.min(at, choices.length - 1);
  const open = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    go(choice.link);
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) setAt((chosen + by + choices.length) % choices.length);
    else if (event.key === 'Enter') open(choices[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} className="dialog palette" aria-label="Go to" onCancel={onClose}>
      <input
        autoFocus
        type="text"
        role="combobox"
        aria-label="Go to a page, an agent or a search"
        aria-expanded
        aria-controls="palette-choices"
        aria-activedescendant={`choice-${chosen}`}
        placeholder="Where to? Any word searches the calls."
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <ul id="palette-choices" role="listbox" aria-label="Choices">
        {choices.map((choice, index) => (
          <li
            key={choice.link}
            id={`choice-${index}`}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => open(choice)}
          >
            <span>
              <Visible text={choice.title} />
            </span>
            <span className="muted">
              <Visible text={choice.about} />
            </span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}

function useChoices(text: string): readonly Choice[] {
  const gate = useGate();
  const { items } = useValue(gate.inbox.view);
  const { calls } = useValue(gate.log.view);
  return useMemo(() => {
    const agents = [...new Set(calls.filter(({ principal }) => principal === 'agent').map(({ agent }) => agent))];
    const all: Choice[] = [
      ...pageList.map(({ page, title, about }) => ({ title, about, link: linkTo(page) })),
      ...items.slice(0, 200).flatMap((item) =>
        item.kind === 'approval'
          ? [
              {
                title: item.approval.title,
                about: `waits for you · ${item.approval.agent}`,
                link: linkTo('approvals', item.id),
              },
            ]
          : [],
      ),
      ...agents.map((agent) => ({
        title: agent,
        about: 'calls of this agent',
        link: linkTo('calls', '', `agent:${agent}`),
      })),
    ];
    const wanted = text.toLowerCase();
    const fitting = all.filter(({ title, about }) => `${title} ${about}`.toLowerCase().includes(wanted));
    const starting = fitting.filter(({ title }) => title.toLowerCase().startsWith(wanted));
    const inOrder = [...new Set([...starting, ...fitting])].slice(0, mostShown);
    const search = {
      title: `Search the calls for “${text}”`,
      about: 'everything on record',
      link: linkTo('calls', '', text),
    };
    return text === '' ? inOrder : [...inOrder, search];
  }, [items, calls, text]);
}
