import { useEffect, useState, useSyncExternalStore } from 'react';
import { ActivityPage } from './activity/activity-page.tsx';
import { AnomaliesPage } from './anomalies/anomalies-page.tsx';
import { AuditPage } from './audit/audit-page.tsx';
import { CallsPage } from './calls/calls-page.tsx';
import { ClientsPage } from './clients/clients-page.tsx';
import { currentCredential, onCredential } from './daemon/credential.ts';
import { HomePage } from './home/home-page.tsx';
import { InboxPage } from './inbox/inbox-page.tsx';
import { Gate } from './live/gate.ts';
import { GateContext } from './live/use-live.ts';
import { PeoplePage } from './people/people-page.tsx';
import { RulesPage } from './rules/rules-page.tsx';
import { SessionsPage } from './sessions/sessions-page.tsx';
import { LoginPage } from './shell/login-page.tsx';
import { Shell } from './shell/shell.tsx';
import { UnknownPage } from './shell/unknown-page.tsx';
import { useRoute } from './shell/use-route.ts';
import type { Route } from './shell/use-route.ts';
import { ToolsPage } from './tools/tools-page.tsx';
import { UpstreamsPage } from './upstreams/upstreams-page.tsx';

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

function PageOf({ route: { page, part, query } }: { readonly route: Route }) {
  switch (page) {
    case 'home':
      return <HomePage />;
    case 'approvals':
      return <InboxPage part={part} />;
    case 'calls':
      return <CallsPage callId={part} query={query} />;
    case 'activity':
      return <ActivityPage part={part} />;
    case 'anomalies':
      return <AnomaliesPage anomalyId={part} query={query} />;
    case 'sessions':
      return <SessionsPage key={part} part={part} />;
    case 'clients':
      return <ClientsPage />;
    case 'people':
      return <PeoplePage />;
    case 'rules':
      return <RulesPage ruleId={part} />;
    case 'tools':
      return <ToolsPage />;
    case 'upstreams':
      return <UpstreamsPage key={part} name={part} />;
    case 'audit':
      return <AuditPage index={part} />;
    case undefined:
      return <UnknownPage />;
  }
}
