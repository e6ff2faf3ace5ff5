/** One word of a command line: its literal parts, with an unquoted `*` between each two. */
export type Word = readonly [string, ...string[]];

/** What is wrong with a command line, as the end of a sentence. */
export class WordsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WordsError';
  }
}

/** What a shell would act on if it stood outside quotes. Nothing of it may be judged as if it were a letter. */
const active = new Set('|&;<>()$`\n\r?[]{}');

/**
 * Takes a line of quoted words apart, as a shell does, and expands nothing: what a shell would expand or act on is an
 * error. Throws WordsError.
 */
export function splitWords(line: string): readonly Word[] {
  const words: Word[] = [];
  let parts: [string, ...string[]] | undefined;
  const append = (text: string): void => {
    parts ??= [''];
    parts[parts.length - 1] += text;
  };
  for (let at = 0; at < line.length; at++) {
    const letter = line.charAt(at);
    if (letter === ' ' || letter === '\t') {
      if (parts !== undefined) words.push(parts);
      parts = undefined;
    } else if (letter === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) throw new WordsError('has a quote that does not end');
      append(line.slice(at + 1, end));
      at = end;
    } else if (letter === '"') {
      const end = endOfDoubleQuotes(line, at);
      append(line.slice(at + 1, end).replaceAll(/\\(["\\$`])/g, '$1'));
      at = end;
    } else if (letter === '\\') {
      if (at + 1 === line.length) throw new WordsError('ends with "\\"');
      append(line.charAt(++at));
    } else if (letter === '*') {
      parts = [...(parts ?? ['']), ''] as unknown as [string, ...string[]];
    } else if (letter === '#' && parts === undefined) {
      throw new WordsError('has a word that starts with "#"; put it in quotes');
    } else if (active.has(letter)) {
      throw new WordsError(
        `has ${JSON.stringify(letter)} outside quotes; put the word in quotes if it is meant literally`,
      );
    } else {
      append(letter);
    }
  }
  if (parts !== undefined) words.push(parts);
  return words;
}

function endOfDoubleQuotes(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at++) {
    const letter = line.charAt(at);
    if (letter === '"') return at;
    if (letter === '\\') at++;
    else if (letter === '$' || letter === '`')
      throw new WordsError(`has "${letter}" in double quotes, where it is not literal`);
  }
  throw new WordsError('has a quote that does not end');
}

/** The words as one line that a shell, and `splitWords`, take apart into the same words. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
