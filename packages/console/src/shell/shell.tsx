import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { currentCredential } from '../daemon/credential.ts';
import { logOut } from '../daemon/log-in.ts';
import { useKeys } from '../inbox/use-keys.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { formatCount } from '../text/format.ts';
import { CommandPalette } from './command-palette.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { KeysHelp } from './keys-help.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { PageBoundary } from './page-boundary.tsx';
import { mainPages, pageList, titleOf } from './pages.ts';
import { theme, themes } from './theme.ts';
import { go, linkTo } from './use-route.ts';
import type { Page } from './use-route.ts';
import { useRowKeys } from './use-row-keys.ts';

export interface ShellProps {
  /** Undefined: the address leads nowhere. */
  readonly page: Page | undefined;
  readonly children: ReactNode;
}

/** How long after `g` the letter of a page is waited for. */
const pairMs = 1200;

/** What is around every page: where one is, what waits, the mode, and the way out. */
export function Shell({ page, children }: ShellProps) {
  const { count: waiting } = useValue(useGate().inbox.view);
  const { unseen } = useValue(useGate().anomalies.view);
  const [open, setOpen] = useState<'keys' | 'palette' | 'more'>();
  const title = page === undefined ? 'Nothing is here' : titleOf(page);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title} · Sallyport`;
  }, [waiting, title]);
  // Another page begins at its top, and what was open over the last one is done with.
  useEffect(() => setOpen(undefined), [page]);
  usePageKeys(setOpen);
  // The inbox has its own way through its requests.
  useRowKeys(page !== 'approvals' && open === undefined);
  const close = (): void => setOpen(undefined);
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={skipToMain}>
        Skip to the page
      </a>
      <div className="side">
        <p className="brand">Sallyport</p>
        <button type="button" className="find" onClick={() => setOpen('palette')}>
          Go to… <kbd>Ctrl K</kbd>
        </button>
        <nav className={open === 'more' ? 'nav nav-open' : 'nav'} aria-label="Pages">
          {pageList.map(({ page: each, title: name, group }, at) => (
            <a
              key={each}
              href={linkTo(each)}
              className={[
                mainPages.includes(each) ? 'nav-main' : 'nav-more',
                at > 0 && pageList[at - 1]?.group !== group ? 'nav-break' : '',
              ].join(' ')}
              aria-current={each === page ? 'page' : undefined}
              onClick={close}
            >
              {name}
              {each === 'approvals' && <Count count={waiting} label={`${formatCount(waiting, 'request')} waiting`} />}
              {each === 'anomalies' && <Count count={unseen.length} label={`${unseen.length} not seen`} />}
            </a>
          ))}
          <button type="button" className="nav-find" onClick={() => setOpen('palette')}>
            Go to…
          </button>
          <button
            type="button"
            className="nav-toggle"
            aria-expanded={open === 'more'}
            data-current={page !== undefined && !mainPages.includes(page)}
            onClick={() => setOpen(open === 'more' ? undefined : 'more')}
          >
            More
          </button>
        </nav>
        <div className="side-end">
          <ModeSwitch />
          <button type="button" className="quiet keys-button" onClick={() => setOpen('keys')}>
            Keys <kbd>?</kbd>
          </button>
          <ThemeSwitch />
          <button type="button" className="quiet" onClick={() => void logOut()}>
            Log out <span className="person">{currentCredential()?.person}</span>
          </button>
        </div>
      </div>
      <div className="content">
        <ConnectionBanner />
        <main id="main" key={page} tabIndex={-1} className={`page page-${page ?? 'unknown'}`}>
          <PageBoundary>{children}</PageBoundary>
        </main>
      </div>
      {open === 'keys' && <KeysHelp onClose={close} />}
      {open === 'palette' && <CommandPalette onClose={close} />}
    </div>
  );
}

function Count({ count, label }: { readonly count: number; readonly label: string }) {
  if (count === 0) return null;
  return (
    <span className="count" aria-label={label}>
      {count > 999 ? '999+' : count}
    </span>
  );
}

function usePageKeys(setOpen: (what: 'keys' | 'palette') => void): void {
  const afterG = useRef(0);
  useKeys(
    (key) => {
      if (performance.now() - afterG.current < pairMs) {
        afterG.current = 0;
        const wanted = pageList.find((each) => each.key === key);
        if (wanted !== undefined) go(linkTo(wanted.page));
        return wanted !== undefined;
      }
      if (key === 'g') afterG.current = performance.now();
      else if (key === '?') setOpen('keys');
      else if (key === '/') focusSearch();
      else return false;
      return true;
    },
    { isFirst: true },
  );
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen('palette');
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [setOpen]);
}

function focusSearch(): void {
  document.querySelector<HTMLElement>('main input[type=search]')?.focus();
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
