/** A text as it reads when its escapes are undone, and where the characters of that stand in the text itself. */
export interface PlainView {
  readonly text: string;
  /** The text itself, from where the character at `start` begins to where the one before `end` ends. */
  readonly locate: (start: number, end: number) => { readonly start: number; readonly end: number };
}

/**
 * Nothing is drawn for these, or only on the character before: all that the table in visible-text.ts counts as hidden, and
 * accents, which hide nothing from a reader but keep a secret from being found. They are units of UTF-16 and not classes of
 * Unicode, because escapes are read unit by unit; a test holds them to the table. Controls are read over further below.
 */
const unseen = [
  String.raw`[\x7f-\x9f\u00ad\u0300-\u036f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5]`,
  String.raw`[\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc]`,
  String.raw`\ud804[\udcbd\udccd]|\ud80d[\udc30-\udc3f\udc41\udc42]|\ud81b\udfe4|\ud82f[\udca0-\udca3]`,
  String.raw`\ud834[\udd59\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]`,
].join('|');
const isUnseen = new RegExp(`^(?:${unseen})$`);
/** The commonest of them as bytes in an address. */
const unseenBytes = ['e2 80 8[b-f]', 'e2 81 a[0-9a-f]', 'ef bb bf', 'c2 ad']
  .map((bytes) => bytes.replaceAll(/(?:^| )/g, '%(?:25)*'))
  .join('|');
const mayBeEscaped = new RegExp(String.raw`[\\%&\0-\x1f]|${unseen}`);
const backslashes = String.raw`(?:\\|%(?:25)*5c)+`;
const escapeCharacter = String.raw`(?:\x1b|${backslashes}(?:u001b|x1b|u\{1b\}|033|e)|%(?:25)*1b)`;
const bracket = String.raw`(?:\[|%(?:25)*5b)`;

/**
 * Escaping again adds backslashes, `25` and `amp;`, so any number of them counts as one. Colours and the ends of lines,
 * with what indents the next one, are read over: programs put them into the middle of everything. So is what nobody sees,
 * zero bytes among it: between the characters of UTF-16 they stand where it was read as something else.
 */
const escapes = new RegExp(
  [
    `${escapeCharacter}${bracket}[0-9;?]*[ -/]*[@-~]`,
    String.raw`(?:[\r\n]|${backslashes}[rn]|%(?:25)*0[ad])+[ \t]*`,
    unseenBytes,
    unseen,
    String.raw`${backslashes}u(?<unit>[0-9a-f]{4})`,
    String.raw`${backslashes}u\{(?<point>[0-9a-f]{1,6})\}`,
    String.raw`${backslashes}x(?<code>[0-9a-f]{2})`,
    String.raw`${backslashes}[tbf]?`,
    String.raw`%(?:25)*(?<byte>[0-9a-f]{2})`,
    String.raw`&(?:amp;)*(?<entity>lt|gt|quot|apos|#39|#x27|#34);`,
    String.raw`&(?<again>amp;)+`,
    String.raw`[\0-\x1f]`,
  ].join('|'),
  'gi',
);

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#39': "'",
  '#x27': "'",
  '#34': '"',
};

/** Undefined: the text has no escapes and reads as it stands. */
export function viewPlain(text: string): PlainView | undefined {
  if (!mayBeEscaped.test(text)) return undefined;
  const pieces: string[] = [];
  /** Where each piece begins in the view and in the text, and where in the text it ends. */
  const [shownAt, startAt, endAt]: [number[], number[], number[]] = [[], [], []];
  let shown = 0;
  const add = (piece: string, start: number, end: number): void => {
    if (piece === '') return;
    pieces.push(piece);
    shownAt.push(shown);
    startAt.push(start);
    endAt.push(end);
    shown += piece.length;
  };
  let at = 0;
  for (const match of text.matchAll(escapes)) {
    const end = match.index + match[0].length;
    add(text.slice(at, match.index), at, match.index);
    add(readEscape(match.groups ?? {}), match.index, end);
    at = end;
  }
  add(text.slice(at), at, text.length);
  const pieceAt = (place: number): number => {
    let [low, high] = [0, shownAt.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((shownAt[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  // What an escape stands for is one place; of anything else each character is.
  const isEscape = (piece: number): boolean =>
    (endAt[piece] ?? 0) - (startAt[piece] ?? 0) !== (pieces[piece]?.length ?? 0);
  return {
    text: pieces.join(''),
    locate: (start, end) => {
      const [first, last] = [pieceAt(start), pieceAt(end - 1)];
      const inFirst = isEscape(first) ? 0 : start - (shownAt[first] ?? 0);
      const afterLast = isEscape(last) ? (endAt[last] ?? 0) : (startAt[last] ?? 0) + end - (shownAt[last] ?? 0);
      return { start: (startAt[first] ?? 0) + inFirst, end: afterLast };
    },
  };
}

function readEscape({ unit, point, code, byte, entity, again }: Partial<Record<string, string>>): string {
  if (entity !== undefined) return entities[entity.toLowerCase()] ?? '';
  if (again !== undefined) return '&';
  // Beyond ASCII a byte is a part of a character.
  if (byte !== undefined && Number.parseInt(byte, 16) > 0x7e) return `%${byte.toLowerCase()}`;
  const digits = unit ?? point ?? code ?? byte;
  if (digits === undefined) return '';
  const value = Number.parseInt(digits, 16);
  // A backslash or a control character that was escaped counts as little as one that was not.
  if (value < 0x20 || value === 0x5c || value > 0x10ffff) return '';
  const character = unit === undefined ? String.fromCodePoint(value) : String.fromCharCode(value);
  return isUnseen.test(character) ? '' : character;
}
