import { useSyncExternalStore } from 'react';

export const pages = ['approvals', 'calls', 'audit', 'usage', 'sessions', 'tools'] as const;
export type Page = (typeof pages)[number];

export interface Route {
  readonly page: Page;
  /** What of the page. Empty: nothing in particular. */
  readonly part: string;
}

/** The place in the console, from the part of the address that stays in the browser. */
export function parseRoute(hash: string): Route {
  const [, name = '', part = ''] = hash.split('/');
  const page = pages.find((each) => each === name) ?? 'approvals';
  try {
    return { page, part: decodeURIComponent(part) };
  } catch {
    return { page, part: '' };
  }
}

export function linkTo(page: Page, part = ''): string {
  return `#/${page}${part === '' ? '' : `/${encodeURIComponent(part)}`}`;
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
