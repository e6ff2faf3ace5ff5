import { useKeys } from '../inbox/use-keys.ts';

const rowSelector = 'main .rows a.line, main .rows summary.line, main [data-row-link]';

/** `j` and `k`, or the arrows, go through the rows of any list; Enter opens one, as it always does. */
export function useRowKeys(isActive: boolean): void {
  useKeys((key) => {
    if (!isActive) return false;
    const by = key === 'j' || key === 'ArrowDown' ? 1 : key === 'k' || key === 'ArrowUp' ? -1 : 0;
    const rows = by === 0 ? [] : [...document.querySelectorAll<HTMLElement>(rowSelector)];
    if (rows.length === 0) return false;
    const at = rows.findIndex((row) => row === document.activeElement);
    const next = at === -1 ? rows[0] : rows[at + by];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: 'nearest' });
    return true;
  });
}
