import { useState } from 'react';
import { callTool } from '../daemon/call-tool.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { Visible } from '../text/visible.tsx';

interface Preview {
  readonly undone: readonly unknown[];
  readonly conflicts: readonly { readonly path: string; readonly because: string; readonly difference: string }[];
}

/** Undoes a call that changed something. The gate shows what an undo would change before it happens, line by line. */
export function UndoCall({ callId }: { readonly callId: string }) {
  const { run, trouble, dialog } = useGovernedCall();
  const [preview, setPreview] = useState<Preview>();
  const [lookTrouble, setLookTrouble] = useState<Trouble>();
  const [isDone, setIsDone] = useState(false);
  const input = { call_id: callId };
  const look = async (): Promise<void> => {
    setLookTrouble(undefined);
    try {
      const found = await callTool<Preview>('undo.preview', input);
      setPreview(found);
      if (found.conflicts.length === 0 && found.undone.length > 0) setIsDone(await run('undo.run', input));
    } catch (error) {
      setLookTrouble(troubleOf(error));
    }
  };
  if (isDone) return <p role="status">The call is undone.</p>;
  const problem = lookTrouble ?? trouble;
  return (
    <div className={preview === undefined && problem === undefined ? '' : 'ending'}>
      <div className="form-actions">
        <button type="button" onClick={() => void look()}>
          Undo…
        </button>
      </div>
      {preview && preview.undone.length === 0 && preview.conflicts.length === 0 && (
        <p role="status">There is nothing to undo: everything is as it was before the call.</p>
      )}
      {preview && preview.conflicts.length > 0 && (
        <div role="alert">
          <p>Not undone. Nothing was changed.</p>
          {preview.conflicts.map(({ path, because, difference }) => (
            <div key={path}>
              <p>
                <Visible text={`${path} ${because}.`} />
              </p>
              <pre className="json" tabIndex={0}>
                <Visible text={difference} />
              </pre>
            </div>
          ))}
        </div>
      )}
      {problem && <Problem trouble={problem} />}
      {dialog}
    </div>
  );
}
