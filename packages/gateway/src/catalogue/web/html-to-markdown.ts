import { setImmediate } from 'node:timers/promises';
import { dropHiddenText } from '@sallyport/contract';
import { MarkdownWriter } from './markdown-writer.ts';

export interface ReadablePage {
  /** Empty: the page has none. */
  readonly title: string;
  readonly markdown: string;
}

/** Parts that hold nothing to read, whatever is in them. */
const unread: ReadonlySet<string> = new Set(
  'script style noscript template svg math iframe object canvas video audio select textarea button dialog head'.split(
    ' ',
  ),
);
/** Parts around the text that a reader skips: left out where the page has other text. */
const frame: ReadonlySet<string> = new Set(['nav', 'footer', 'aside']);
const blocks: ReadonlySet<string> = new Set(
  'p div section article main header address figure figcaption dl dt dd details summary form fieldset body html'.split(
    ' ',
  ),
);
const inline: ReadonlySet<string> = new Set(['strong', 'b', 'em', 'i', 'code']);
const empty: ReadonlySet<string> = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
/** Seen by those who read the source, and not by those who look at the page. */
const isHidingStyle = /(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]))/i;

const chunkLength = 64 * 1024;
const longestLink = 2000;
const longestAttribute = 4000;
const keptAttributes: ReadonlySet<string> = new Set([
  'href',
  'src',
  'alt',
  'hidden',
  'style',
  'aria-hidden',
  'class',
  'start',
]);

export interface ReadOptions {
  /** Links that are relative start here. */
  readonly baseUrl: string;
  /** Of the Markdown. */
  readonly maxLength: number;
  readonly signal: AbortSignal;
}

/** What a person would read on a page, as Markdown. Lets others use the thread between pieces of a large page. */
export async function htmlToMarkdown(html: string, options: ReadOptions): Promise<ReadablePage> {
  const page = await readPage(html, options, frame);
  return page.markdown === '' ? readPage(html, options, new Set()) : page;
}

async function readPage(html: string, options: ReadOptions, skipped: ReadonlySet<string>): Promise<ReadablePage> {
  // Loaded when the first page is read: most daemons never read one.
  const { Tokenizer } = await import('htmlparser2');
  const reader = new PageReader(html, options, skipped);
  const tokenizer = new Tokenizer({ decodeEntities: true }, reader);
  for (let at = 0; at < html.length && !reader.isFull; at += chunkLength) {
    options.signal.throwIfAborted();
    tokenizer.write(html.slice(at, at + chunkLength));
    await setImmediate();
  }
  if (!reader.isFull) tokenizer.end();
  return reader.finish();
}

/** Is told of tags and text in the order of the page. It builds no tree: a page can be nested deeper than any stack. */
class PageReader {
  readonly #html: string;
  readonly #baseUrl: string;
  readonly #skipped: ReadonlySet<string>;
  readonly #writer: MarkdownWriter;
  #title = '';
  #isInTitle = false;
  #name = '';
  #attributes: Record<string, string> = {};
  #attribute = '';
  #value: string[] = [];
  /** The part that is being left out, and how many of its name are open. */
  #hidden: { readonly name: string; depth: number } | undefined;
  #language = '';
  #main: { readonly name: string; readonly from: number; to?: number; depth: number } | undefined;

  constructor(html: string, { baseUrl, maxLength }: ReadOptions, skipped: ReadonlySet<string>) {
    this.#html = html;
    this.#baseUrl = baseUrl.length > longestLink ? '' : baseUrl;
    this.#skipped = skipped;
    this.#writer = new MarkdownWriter(maxLength);
  }

  get isFull(): boolean {
    return this.#writer.isFull;
  }

  finish(): ReadablePage {
    this.#writer.closePreformatted('');
    this.#writer.closeTable();
    const main = this.#main && this.#writer.read(this.#main.from, this.#main.to);
    const markdown = clean(main === undefined || main.length < 200 ? this.#writer.read() : main);
    return { title: clean(this.#title).replaceAll(/\s+/g, ' ').trim().slice(0, 500), markdown: markdown.trim() };
  }

  ontext(start: number, end: number): void {
    this.#take(this.#html.slice(start, end));
  }

  ontextentity(codepoint: number): void {
    this.#take(String.fromCodePoint(codepoint));
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#html.slice(start, Math.min(end, start + 40)).toLowerCase();
    this.#attributes = {};
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, Math.min(end, start + 40)).toLowerCase();
    this.#value = [];
  }

  onattribdata(start: number, end: number): void {
    if (keptAttributes.has(this.#attribute))
      this.#value.push(this.#html.slice(start, Math.min(end, start + longestAttribute)));
  }

  onattribentity(codepoint: number): void {
    if (keptAttributes.has(this.#attribute) && this.#value.length < 100)
      this.#value.push(String.fromCodePoint(codepoint));
  }

  onattribend(): void {
    if (keptAttributes.has(this.#attribute) && !(this.#attribute in this.#attributes)) {
      this.#attributes[this.#attribute] = this.#value.join('').slice(0, longestAttribute);
    }
  }

  onopentagend(): void {
    this.#open(this.#name, this.#attributes);
  }

  onselfclosingtag(): void {
    this.#open(this.#name, this.#attributes);
  }

  onclosetag(start: number, end: number): void {
    this.#close(this.#html.slice(start, Math.min(end, start + 40)).toLowerCase());
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}

  #take(text: string): void {
    if (this.#isInTitle) this.#title = (this.#title + text).slice(0, 2000);
    else if (this.#hidden === undefined) this.#writer.text(text);
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'title') {
      this.#isInTitle = this.#title === '';
      return;
    }
    // A body that begins inside of something hidden shows that its end was forgotten.
    if (name === 'body' && this.#hidden?.name === 'head') this.#hidden = undefined;
    if (this.#hidden !== undefined) {
      if (this.#hidden.name === name) this.#hidden.depth += 1;
      return;
    }
    if (unread.has(name) || this.#skipped.has(name) || (isHidden(attributes) && !empty.has(name))) {
      this.#hidden = { name, depth: 1 };
      return;
    }
    this.#write(name, attributes);
  }

  #write(name: string, attributes: Readonly<Record<string, string>>): void {
    const writer = this.#writer;
    if (blocks.has(name)) writer.endBlock();
    if (name === 'main' || (name === 'article' && this.#main === undefined)) this.#enterMain(name);
    if (inline.has(name)) writer.openInline(name);
    const level = /^h([1-6])$/.exec(name)?.[1];
    if (level !== undefined) writer.heading(Number(level));
    const language = /(?:^|\s)lang(?:uage)?-([\w+#-]{1,20})/.exec(attributes['class'] ?? '')?.[1];
    if (language !== undefined && (name === 'code' || name === 'pre')) this.#language = language;
    switch (name) {
      case 'a':
        writer.closeInline('a');
        return writer.openInline('a', this.#link(attributes['href']));
      case 'img':
        return writer.image(attributes['alt'] ?? '', this.#link(attributes['src']));
      case 'br':
        return writer.lineBreak();
      case 'hr':
        return writer.rule();
      case 'ul':
      case 'ol':
        return writer.openList(name === 'ol', Number.parseInt(attributes['start'] ?? '1', 10) || 1);
      case 'li':
        return writer.item();
      case 'blockquote':
        return writer.quote(1);
      case 'pre':
        return writer.openPreformatted();
      case 'table':
        return writer.openTable();
      case 'tr':
        return writer.openRow();
      case 'td':
      case 'th':
        return writer.openCell();
    }
  }

  #close(name: string): void {
    if (name === 'title') this.#isInTitle = false;
    if (this.#hidden !== undefined) {
      if (this.#hidden.name === name && --this.#hidden.depth === 0) this.#hidden = undefined;
      return;
    }
    const writer = this.#writer;
    if (blocks.has(name) || /^h[1-6]$/.test(name) || name === 'li') writer.endBlock();
    if (this.#main?.name === name && --this.#main.depth === 0) this.#main.to = writer.position;
    if (inline.has(name) || name === 'a') writer.closeInline(name);
    switch (name) {
      case 'ul':
      case 'ol':
        return writer.closeList();
      case 'blockquote':
        return writer.quote(-1);
      case 'pre':
        writer.closePreformatted(this.#language);
        this.#language = '';
        return;
      case 'tr':
        return writer.closeRow();
      case 'table':
        return writer.closeTable();
    }
  }

  /** The part that the page itself calls the main one; of articles the first. */
  #enterMain(name: string): void {
    if (this.#main?.name === name) this.#main.depth += this.#main.to === undefined ? 1 : 0;
    else this.#main = { name, from: this.#writer.position, depth: 1 };
  }

  #link(target: string | undefined): string | undefined {
    if (target === undefined || target.length > longestLink) return undefined;
    const url = URL.parse(target, this.#baseUrl === '' ? undefined : this.#baseUrl);
    if (url === null || !/^(?:https?|mailto):$/.test(url.protocol) || url.href.length > longestLink) return undefined;
    return url.href.replaceAll('(', '%28').replaceAll(')', '%29');
  }
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  return (
    'hidden' in attributes || attributes['aria-hidden'] === 'true' || isHidingStyle.test(attributes['style'] ?? '')
  );
}

function clean(text: string): string {
  return dropHiddenText(text).replaceAll('\r', '');
}
