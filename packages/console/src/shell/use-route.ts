import { useSyncExternalStore } from 'react';
import { pages } from './pages.ts';
import type { Page } from './pages.ts';

export type { Page } from './pages.ts';

export interface Route {
  /** Undefined: there is no such page. */
  readonly page: Page | undefined;
  /** What of the page. Empty: nothing in particular. */
  readonly part: string;
  /** What is searched for on the page. Empty: nothing. */
  readonly query: string;
}

/** Pages that have another name by now. */
const formerNames: Readonly<Record<string, Page>> = { usage: 'activity', agents: 'sessions' };

/** The place in the console, from the part of the address that stays in the browser. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = splitOnce(hash, '?');
  const [, name = '', part = ''] = path.split('/');
  const known = pages.find((each) => each === name);
  const former = Object.hasOwn(formerNames, name) ? formerNames[name] : undefined;
  const page = known ?? former ?? (name === '' ? 'home' : undefined);
  return { page, part: decode(part), query: decode(query.replace(/^q=/, '')) };
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

export function linkTo(page: Page, part = '', query = ''): string {
  const search = query === '' ? '' : `?q=${encodeURIComponent(query)}`;
  return `#/${page}${part === '' ? '' : `/${encodeURIComponent(part)}`}${search}`;
}

export function go(link: string): void {
  location.hash = link;
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(
    (listener) => {
      addEventListener('hashchange', listener);
      return () => removeEventListener('hashchange', listener);
    },
    () => location.hash,
  );
  return parseRoute(hash);
}
