import { useEffect, useState, useSyncExternalStore } from 'react';
import { AuditPage } from './audit/audit-page.tsx';
import { CallsPage } from './calls/calls-page.tsx';
import { currentCredential, onCredential } from './daemon/credential.ts';
import { InboxPage } from './inbox/inbox-page.tsx';
import { Gate } from './live/gate.ts';
import { GateContext } from './live/use-live.ts';
import { SessionsPage } from './sessions/sessions-page.tsx';
import { LoginPage } from './shell/login-page.tsx';
import { Shell } from './shell/shell.tsx';
import { useRoute } from './shell/use-route.ts';
import type { Route } from './shell/use-route.ts';
import { ToolsPage } from './tools/tools-page.tsx';
import { UsagePage } from './usage/usage-page.tsx';

/** The console: the pages for a person who is logged in, the login page for everybody else. */
export function App({ loginProblem }: { readonly loginProblem: string }) {
  const credential = useSyncExternalStore(onCredential, currentCredential);
  if (credential === undefined) return <LoginPage reason={loginProblem} />;
  // Another person, or the same one anew, starts with nothing of what was known before.
  return <LoggedIn key={credential.token} />;
}

function LoggedIn() {
  const [gate] = useState(() => new Gate());
  const route = useRoute();
  useEffect(() => gate.start(), [gate]);
  return (
    <GateContext value={gate}>
      <Shell page={route.page}>
        <PageOf route={route} />
      </Shell>
    </GateContext>
  );
}

function PageOf({ route: { page, part } }: { readonly route: Route }) {
  switch (page) {
    case 'approvals':
      return <InboxPage part={part} />;
    case 'calls':
      return <CallsPage callId={part} />;
    case 'audit':
      return <AuditPage index={part} />;
    case 'usage':
      return <UsagePage part={part} />;
    case 'sessions':
      return <SessionsPage />;
    case 'tools':
      return <ToolsPage />;
  }
}
