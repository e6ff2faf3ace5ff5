import type { ReactNode } from 'react';
import type { Outcome } from '../live/call.ts';
import { Visible } from '../text/visible.tsx';

/** The small parts that every page is made of. */
export function PageHead({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <header className="page-head">
      <h1>{title}</h1>
      <div className="page-actions">{children}</div>
    </header>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="loading" role="status">
      Loading {what}…
    </p>
  );
}

export interface Trouble {
  readonly message: string;
  readonly remedy?: string;
}

export function Problem({ trouble, onRetry }: { readonly trouble: Trouble; readonly onRetry?: () => void }) {
  return (
    <div className="problem" role="alert">
      <p>
        <strong>
          <Visible text={trouble.message} />
        </strong>{' '}
        <Visible text={trouble.remedy ?? ''} />
      </p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** An error as the person is told it. */
export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof Error)) return { message: 'Something went wrong.' };
  const remedy = 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : '';
  return { message: error.message, remedy };
}

const outcomeWords: Readonly<Record<Outcome, string>> = {
  running: 'running',
  ok: 'ok',
  waiting: 'asked',
  denied: 'denied',
  error: 'failed',
  fault: 'fault',
  unknown: 'unknown',
};

export function OutcomeBadge({ outcome }: { readonly outcome: Outcome }) {
  return <span className={`badge badge-${outcome}`}>{outcomeWords[outcome]}</span>;
}

export function RiskBadge({ risk }: { readonly risk: string }) {
  return <span className={`badge risk-${risk}`}>{risk} risk</span>;
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
