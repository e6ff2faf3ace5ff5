import type { CommandLine, Redirection, SimpleCommand } from './command-line.ts';

/** Text for `/bin/sh -c`. Every word is quoted, so that nothing is a keyword, an alias, a variable or a pattern. */
export function writeScript({ pipelines }: CommandLine): string {
  return pipelines
    .map(({ after, commands }, index) => {
      const pipeline = commands.map(writeCommand).join(' | ');
      return index === 0 ? pipeline : `${after} ${pipeline}`;
    })
    .join(' ');
}

function writeCommand({ words, redirections }: SimpleCommand): string {
  return [...words.map(quoteWord), ...redirections.map(writeRedirection)].join(' ');
}

function writeRedirection(redirection: Redirection): string {
  switch (redirection.kind) {
    case 'from-file':
      return `<${quoteWord(redirection.target)}`;
    case 'to-file':
      return `${redirection.descriptor}${redirection.append ? '>>' : '>'}${quoteWord(redirection.target)}`;
    case 'merge':
      return `${redirection.descriptor}>&${redirection.like}`;
  }
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
