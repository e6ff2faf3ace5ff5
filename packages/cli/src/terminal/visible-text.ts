import { replaceUnseen } from '@sallyport/contract';

export { makeVisible, makeVisibleLine } from '@sallyport/contract';

/** JSON that is safe on a terminal and means the same: what would do harm there is spelled as an escape of JSON. */
export function visibleJson(value: unknown, indent?: number): string {
  return replaceUnseen(JSON.stringify(value, undefined, indent), (character) =>
    Array.from({ length: character.length }, (_, at) => spellUnit(character.charCodeAt(at))).join(''),
  );
}

function spellUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
