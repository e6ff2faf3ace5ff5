import { useState } from 'react';

/** A command or a token to take elsewhere. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const [said, setSaid] = useState('Copy');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Select and copy it');
    }
    setTimeout(() => setSaid('Copy'), 2000);
  };
  return (
    <div className="copyable">
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <button type="button" onClick={() => void copy()}>
        {said}
      </button>
    </div>
  );
}
