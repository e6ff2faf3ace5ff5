import { spellUnit, treacherous } from '../approvals/visible-text.ts';

export { makeVisible, makeVisibleLine } from '../approvals/visible-text.ts';

/** JSON that is safe on a terminal and means the same: what would do harm there is spelled as an escape of JSON. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(treacherous, (character) =>
    Array.from({ length: character.length }, (_, at) => spellUnit(character.charCodeAt(at))).join(''),
  );
}
