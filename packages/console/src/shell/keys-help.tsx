import { useEffect, useRef } from 'react';
import { pageList } from './pages.ts';

const keys: readonly (readonly [string, string])[] = [
  ['?', 'these keys'],
  ['Ctrl K', 'go anywhere, find anything'],
  ['/', 'search on this page'],
  ['j  k', 'next and previous row, or request'],
  ['Enter', 'open the row'],
  ['Esc', 'close what is open'],
];
const approvalKeys: readonly (readonly [string, string])[] = [
  ['space', 'show the next part of a long effect'],
  ['a', 'approve once'],
  ['s', 'approve for the rest of the session'],
  ['t', 'approve for some minutes'],
  ['A', 'approve always, with a rule'],
  ['c', 'request changes'],
  ['d', 'deny'],
];

/** Every key there is. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="dialog keys" aria-labelledby="keys-title" onCancel={onClose}>
      <h2 id="keys-title">Keys</h2>
      <div className="keys-columns">
        <KeyList title="Everywhere" list={keys} />
        <KeyList title="Approvals" list={approvalKeys} />
        <KeyList title="Pages" list={pageList.map(({ key, title }) => [`g ${key}`, title])} />
      </div>
      <div className="form-actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </dialog>
  );
}

function KeyList({ title, list }: { readonly title: string; readonly list: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className="key-list">
        {list.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              {key.split(/\s+/).map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
