#!/usr/bin/env node
import { defineTool, integer, object, serveTool, string } from '@sallyport/sdk';

export const textCount = defineTool({
  name: 'text.count',
  version: '1.0.0',
  description: 'Counts the lines, words and characters of a text. Use it instead of counting yourself.',
  tags: ['text'],
  risk: 'low',
  mutates: false,
  idempotent: true,
  warm: true,
  input: object({ text: string({ description: 'What to count' }) }),
  output: object({ lines: integer(), words: integer(), characters: integer() }),
  run: ({ text }) => ({
    lines: text === '' ? 0 : text.replace(/\n$/, '').split('\n').length,
    words: text.match(/\S+/g)?.length ?? 0,
    characters: [...new Intl.Segmenter().segment(text)].length,
  }),
});

if (import.meta.main) serveTool(textCount);
