/** How one test ended. */
export interface TestCase {
  readonly [key: string]: string | number;
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
}

const longestName = 500;
const longestMessage = 2000;

/** The tests of a report in JUnit's XML, as Node, pytest and Vitest write it. Undefined: it is not one. */
export function readJunit(xml: string): readonly TestCase[] | undefined {
  if (!xml.includes('<testsuite')) return undefined;
  const found: TestCase[] = [];
  for (let at = xml.indexOf('<testcase'); at >= 0;) {
    const headEnd = endOfTag(xml, at);
    if (headEnd < 0) break;
    const head = xml.slice(at, headEnd);
    const isEmpty = xml[headEnd - 1] === '/';
    const close = isEmpty ? headEnd : xml.indexOf('</testcase>', headEnd);
    if (close < 0) break;
    found.push(readCase(head, isEmpty ? '' : xml.slice(headEnd + 1, close)));
    at = xml.indexOf('<testcase', close);
  }
  return found;
}

/** A `>` in quotes does not end a tag. */
function endOfTag(xml: string, start: number): number {
  let isQuoted = false;
  for (let at = start; at < xml.length; at++) {
    const letter = xml[at];
    if (letter === '"') isQuoted = !isQuoted;
    else if (letter === '>' && !isQuoted) return at;
  }
  return -1;
}

function readCase(head: string, body: string): TestCase {
  const attribute = (text: string, name: string): string | undefined => {
    const start = text.indexOf(` ${name}="`);
    if (start < 0) return undefined;
    const from = start + name.length + 3;
    return unescape(text.slice(from, text.indexOf('"', from)));
  };
  const failure = ['<failure', '<error'].map((tag) => body.indexOf(tag)).find((at) => at >= 0);
  const seconds = Number(attribute(head, 'time'));
  const file = attribute(head, 'file');
  const suite = attribute(head, 'classname');
  const told = failure === undefined ? undefined : readFailure(body.slice(failure), attribute);
  return {
    name: (attribute(head, 'name') ?? '').slice(0, longestName),
    ...(suite === undefined || suite === 'test' ? {} : { suite: suite.slice(0, longestName) }),
    ...(file === undefined ? {} : { file }),
    status: failure !== undefined ? 'failed' : body.includes('<skipped') ? 'skipped' : 'passed',
    ...(Number.isFinite(seconds) ? { duration_ms: Math.round(seconds * 1000) } : {}),
    ...(told === undefined ? {} : { message: told }),
  };
}

function readFailure(text: string, attribute: (text: string, name: string) => string | undefined): string {
  const headEnd = endOfTag(text, 0);
  const short = attribute(text.slice(0, headEnd), 'message') ?? '';
  const close = text.indexOf('</', headEnd);
  const long = unescape(
    text.slice(headEnd + 1, close < 0 ? undefined : close).replace(/^<!\[CDATA\[|\]\]>$/g, ''),
  ).trim();
  return (long.includes(short) ? long : `${short}\n${long}`).trim().slice(0, longestMessage);
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescape(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,4}));/gi,
    (all, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return entities[name] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
}
