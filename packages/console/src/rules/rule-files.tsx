import { useState } from 'react';
import type { InJson, PolicyCheck, PolicyReplay, PolicyStatus } from '@sallyport/contract';
import { callTool } from '../daemon/call-tool.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { linkTo } from '../shell/use-route.ts';
import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

interface RuleFilesProps {
  readonly status: InJson<PolicyStatus>;
  readonly reload: () => void;
}

/** Rules are edited in their files. What the files would change is tried on the recorded calls before they count. */
export function RuleFiles({ status, reload }: RuleFilesProps) {
  const [replay, setReplay] = useState<InJson<PolicyReplay>>();
  const [check, setCheck] = useState<InJson<PolicyCheck>>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [isBusy, setIsBusy] = useState(false);
  const tryOut = async (): Promise<void> => {
    setIsBusy(true);
    setTrouble(undefined);
    try {
      setReplay(await callTool<InJson<PolicyReplay>>('policy.replay', { against: 'in-force' }));
      setCheck(await callTool<InJson<PolicyCheck>>('policy.check', { rules: 'files' }));
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    setIsBusy(false);
    // They may have changed since the page was opened.
    reload();
  };
  const { run, dialog, trouble: failed } = useGovernedCall();
  const apply = async (): Promise<void> => {
    if (!(await run('policy.apply', {}))) return;
    setReplay(undefined);
    setCheck(undefined);
    reload();
  };
  const said = trouble ?? failed;
  const { files, folder, problem } = status;
  const says: Readonly<Record<string, string>> = {
    applied: 'The files are what is in force.',
    changed: 'The files have changed, and the change is not in force yet.',
    broken: 'The files cannot be read.',
  };
  return (
    <section className={`block-section files-${files}`} aria-label="The files of the rules">
      <p>
        {says[files] ?? files} Edit them in <code>{folder}</code>, then replay what was called.
      </p>
      {problem !== '' && (
        <p className="problem">
          <Visible text={problem} />
        </p>
      )}
      <div className="form-actions">
        <button type="button" disabled={isBusy} onClick={() => void tryOut()}>
          {isBusy ? 'Replaying…' : 'Replay with the files as they are now'}
        </button>
        {files === 'changed' && (
          <button type="button" disabled={isBusy} onClick={() => void apply()}>
            Put the files in force…
          </button>
        )}
      </div>
      {dialog}
      {said && <Problem trouble={said} />}
      {replay !== undefined && <Replay replay={replay} />}
      {check !== undefined && check.findings.length > 0 && (
        <details className="fold">
          <summary>{formatCount(check.findings.length, 'remark')} about the files</summary>
          <ul className="findings">
            {check.findings.map(({ message }, at) => (
              <li key={at}>
                <Visible text={message} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Replay({ replay: { decided, ways, calls } }: { readonly replay: InJson<PolicyReplay> }) {
  return (
    <div role="status">
      <p>
        {formatCount(decided, 'recorded call')} decided again:{' '}
        {ways.length === 0
          ? 'nothing would change.'
          : `${ways.map(({ was, would, count }) => `${count} from ${was} to ${would}`).join(', ')}.`}
      </p>
      <ul className="rows">
        {calls.slice(0, 10).map(({ callId, agent, tool, was, would }) => (
          <li key={callId}>
            <a className="line" href={linkTo('calls', callId)}>
              <Visible text={agent} /> <code>{tool}</code>{' '}
              <span className="muted">
                {was?.effect} → {would?.effect} by {would?.ruleId}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
