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
      <p>
        To get a link that logs you in, run this command on the machine of the gate and open the link that it prints:
      </p>
      <Copyable label="Command" text="npx sallyport console" />
      <p className="muted">
        The link works once, within a minute. There is no password: anyone who may use that terminal may use the
        console.
      </p>
    </main>
  );
}
