/** An inline element that is open: what came in since `from` belongs to it. */
interface Frame {
  readonly name: string;
  readonly from: number;
  /** Of a link. */
  readonly href?: string | undefined;
}

/** No paragraph is that long; what goes on is another one. */
const longestBlock = 64 * 1024;
const mostFrames = 16;
const mostLists = 12;
const mostQuotes = 6;
const marks: Readonly<Record<string, string>> = { strong: '**', b: '**', em: '*', i: '*', code: '`' };

/**
 * Puts Markdown together from what a page says, piece by piece. Each piece is touched a bounded number of times and
 * nothing is nested deeper than a bound, so hostile pages cost no more than honest ones of their size.
 */
export class MarkdownWriter {
  readonly #blocks: string[] = [];
  readonly #maxLength: number;
  #length = 0;
  #pieces: string[] = [];
  #blockLength = 0;
  #frames: Frame[] = [];
  readonly #lists: { readonly isOrdered: boolean; next: number }[] = [];
  #marker: string | undefined;
  /** Whether the list that is open has an item already: items stand close together. */
  #hasItem = false;
  #heading = '';
  #quotes = 0;
  #row: string[] | undefined;
  #cell: string[] | undefined;
  #rowsOfTable = 0;
  #preformatted: string[] | undefined;

  /** `maxLength`: of the whole text, in characters; what is beyond is left out. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get isFull(): boolean {
    return this.#length >= this.#maxLength;
  }

  /** How much has been written, for a part that is taken out later. */
  get position(): number {
    return this.#blocks.length;
  }

  text(text: string): void {
    if (this.#preformatted !== undefined) this.#preformatted.push(text);
    else this.#add(text.replaceAll(/\s+/g, ' '));
  }

  lineBreak(): void {
    if (this.#preformatted !== undefined) this.#preformatted.push('\n');
    else this.#add('\n');
  }

  openInline(name: string, href?: string): void {
    if (this.#preformatted === undefined && this.#frames.length < mostFrames)
      this.#frames.push({ name, from: this.#pieces.length, href });
  }

  closeInline(name: string): void {
    const at = this.#frames.findLastIndex((frame) => frame.name === name);
    if (at >= 0) this.#closeFrames(at);
  }

  image(alt: string, source: string | undefined): void {
    if (alt.trim() !== '' && source !== undefined) this.text(`![${alt}](${source})`);
  }

  heading(level: number): void {
    this.endBlock();
    this.#heading = `${'#'.repeat(level)} `;
  }

  rule(): void {
    this.endBlock();
    this.#push('---');
  }

  openList(isOrdered: boolean, start: number): void {
    this.endBlock();
    if (this.#lists.length < mostLists) this.#lists.push({ isOrdered, next: start });
  }

  closeList(): void {
    this.endBlock();
    this.#lists.pop();
    this.#marker = undefined;
    this.#hasItem = this.#lists.length > 0;
  }

  item(): void {
    this.endBlock();
    const list = this.#lists.at(-1);
    this.#marker = list?.isOrdered === true ? `${list.next++}. ` : '- ';
  }

  quote(change: 1 | -1): void {
    this.endBlock();
    this.#quotes = Math.max(0, Math.min(mostQuotes, this.#quotes + change));
  }

  openPreformatted(): void {
    this.endBlock();
    this.#preformatted ??= [];
  }

  closePreformatted(language: string): void {
    const text = this.#preformatted?.join('').replace(/^\n|\s+$/g, '');
    this.#preformatted = undefined;
    if (text === undefined || text === '') return;
    // Longer than any fence inside.
    const inside = text.match(/`{3,}/g)?.reduce((most, each) => Math.max(most, each.length), 2) ?? 2;
    const fence = '`'.repeat(Math.min(inside, 20) + 1);
    this.#push(`${fence}${language}\n${text}\n${fence}`);
  }

  openTable(): void {
    this.endBlock();
    this.#rowsOfTable = 0;
  }

  openRow(): void {
    this.closeRow();
    this.#row = [];
  }

  openCell(): void {
    this.#closeCell();
    this.#row ??= [];
    this.#cell = [];
  }

  closeRow(): void {
    this.#closeCell();
    const row = this.#row;
    this.#row = undefined;
    if (row === undefined || row.every((cell) => cell === '')) return;
    const line = `| ${row.join(' | ')} |`;
    this.#rowsOfTable += 1;
    if (this.#rowsOfTable === 1) this.#push(`${line}\n|${' --- |'.repeat(row.length)}`);
    else this.#append(line);
  }

  closeTable(): void {
    this.closeRow();
    this.endBlock();
    this.#rowsOfTable = 0;
  }

  /** A paragraph ends here, if there is one. */
  endBlock(): void {
    if (this.#preformatted !== undefined) return;
    this.#closeFrames(0);
    const text = this.#pieces.join('').trim();
    this.#pieces = [];
    this.#blockLength = 0;
    if (text === '') return;
    if (this.#cell !== undefined) {
      this.#cell.push(text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|'));
      return;
    }
    const heading = this.#heading;
    this.#heading = '';
    this.#push(heading === '' ? text : heading + text.replaceAll('\n', ' '));
  }

  /** All that was written from one position to another. */
  read(from = 0, to = this.#blocks.length): string {
    return this.#blocks.slice(from, to).join('').replace(/^\n+/, '').slice(0, this.#maxLength).toWellFormed();
  }

  #closeFrames(down: number): void {
    while (this.#frames.length > down) {
      const frame = this.#frames.pop();
      if (frame === undefined) return;
      const inner = this.#pieces.splice(frame.from).join('');
      const text = inner.trim();
      if (/^\s/.test(inner)) this.#add(' ');
      if (text !== '') this.#add(dress(frame, text) + (/\s$/.test(inner) ? ' ' : ''));
    }
  }

  /** One space between words, whatever stands between them in the page. */
  #add(piece: string): void {
    const isAfterSpace = /\s$/.test(this.#pieces.at(-1) ?? '');
    const added = isAfterSpace ? piece.replace(/^ /, '') : piece;
    if (added === '') return;
    this.#pieces.push(added);
    this.#blockLength += added.length;
    if (this.#blockLength > longestBlock && this.#frames.length === 0) this.endBlock();
  }

  #closeCell(): void {
    if (this.#cell === undefined) return;
    this.endBlock();
    this.#row?.push(this.#cell.join(' '));
    this.#cell = undefined;
  }

  /** A block of its own, below a marker of its list, in its quotation. */
  #push(text: string): void {
    const indent = '  '.repeat(Math.max(0, this.#lists.length - 1));
    const marker = this.#marker;
    this.#marker = undefined;
    const first = marker === undefined && this.#lists.length > 0 ? `${indent}  ` : indent + (marker ?? '');
    const rest = ' '.repeat(this.#lists.length > 0 ? indent.length + 2 : 0);
    const quote = '> '.repeat(this.#quotes);
    const lines = text.split('\n').map((line, at) => `${quote}${at === 0 ? first : rest}${line}`);
    const isNextItem = marker !== undefined && (this.#hasItem || this.#lists.length > 1);
    this.#hasItem = this.#lists.length > 0;
    this.#append(lines.join('\n'), isNextItem ? '\n' : '\n\n');
  }

  #append(text: string, before = '\n'): void {
    if (this.isFull) return;
    const block = before + text;
    this.#length += block.length;
    this.#blocks.push(block);
  }
}

function dress({ name, href }: Frame, text: string): string {
  if (name === 'a') return href === undefined ? text : `[${text.replaceAll(/\s+/g, ' ')}](${href})`;
  const mark = marks[name] ?? '';
  return `${mark}${text}${mark}`;
}
