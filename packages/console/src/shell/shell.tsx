import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { currentCredential } from '../daemon/credential.ts';
import { logOut } from '../daemon/log-in.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { formatCount } from '../text/format.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { theme, themes } from './theme.ts';
import { linkTo, pages } from './use-route.ts';
import type { Page } from './use-route.ts';

const titles: Readonly<Record<Page, string>> = {
  approvals: 'Approvals',
  calls: 'Calls',
  audit: 'Audit',
  usage: 'Usage',
  sessions: 'Sessions',
  tools: 'Tools',
};

/** What is around every page: where one is, what waits, the mode, and the way out. */
export function Shell({ page, children }: { readonly page: Page; readonly children: ReactNode }) {
  const { items } = useValue(useGate().inbox.view);
  const waiting = items.length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${titles[page]} · Sallyport`;
  }, [waiting, page]);
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={skipToMain}>
        Skip to the page
      </a>
      <div className="side">
        <p className="brand">Sallyport</p>
        <nav className="nav" aria-label="Pages">
          {pages.map((each) => (
            <a key={each} href={linkTo(each)} aria-current={each === page ? 'page' : undefined}>
              {titles[each]}
              {each === 'approvals' && waiting > 0 && (
                <span className="count" aria-label={`${formatCount(waiting, 'request')} waiting`}>
                  {waiting}
                </span>
              )}
            </a>
          ))}
        </nav>
        <div className="side-end">
          <ModeSwitch />
          <ThemeSwitch />
          <button type="button" className="quiet" onClick={() => void logOut()}>
            Log out <span className="person">{currentCredential()?.person}</span>
          </button>
        </div>
      </div>
      <div className="content">
        <ConnectionBanner />
        <main id="main" tabIndex={-1} className={`page page-${page}`}>
          {children}
        </main>
      </div>
    </div>
  );
}

/** The fragment of the address is the page's own. */
function skipToMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function ThemeSwitch() {
  const current = useValue(theme);
  const next = themes[(themes.indexOf(current) + 1) % themes.length] ?? 'system';
  return (
    <button type="button" className="quiet" onClick={() => theme.set(next)} aria-label={`Colours: ${current}. Change`}>
      Colours: {current}
    </button>
  );
}
