import { Copyable } from './copyable.tsx';

/** Nobody is logged in. `reason` says why a link did not help; empty: none was tried. */
export function LoginPage({ reason }: { readonly reason: string }) {
  return (
    <main className="login">
      <p className="brand">Sallyport</p>
      <h1>Open the console from your terminal</h1>
      {reason !== '' && (
        <p className="problem" role="alert">
          {reason}
        </p>
      )}
      <p>For a link that logs you in, run this where the gate runs, and open what it prints:</p>
      <Copyable label="Command" text="npx sallyport console" />
      <p className="muted">
        The link works once, within a minute. There is no password: whoever may use that terminal may use the console.
      </p>
    </main>
  );
}
