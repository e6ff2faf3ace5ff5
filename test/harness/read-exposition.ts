import assert from 'node:assert/strict';

export interface ExposedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly samples: readonly ExposedSample[];
  /** Undefined: there is no such sample. */
  readonly value: (name: string, labels: Readonly<Record<string, string>>) => number | undefined;
}

const nameForm = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const sampleForm = new RegExp(`^(${nameForm})(?:\\{(.*)\\})? (\\S+)$`);
const labelForm = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;

/**
 * Reads the text format of Prometheus (0.0.4) and fails for whatever is not exactly it: order, names, escapes, types,
 * samples of one metric apart or twice, histograms that do not add up.
 */
export function readExposition(text: string): Exposition {
  assert.ok(text.endsWith('\n'), 'the last line has no end');
  const samples: ExposedSample[] = [];
  const types = new Map<string, string>();
  const helped = new Set<string>();
  let family = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, about = '', rest = ''] = new RegExp(`^# (HELP|TYPE) (${nameForm}) ?(.*)$`).exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!helped.has(about), `${about} is explained twice`);
      assert.match(rest, /^(?:[^\\]|\\[\\n])*$/, line);
      helped.add(about);
      family = about;
      continue;
    }
    if (kind === 'TYPE') {
      assert.equal(about, family, 'the type stands apart from its help');
      assert.match(rest, /^(?:counter|gauge|histogram|summary|untyped)$/);
      types.set(about, rest);
      continue;
    }
    const [, name = '', labels = '', number = ''] = sampleForm.exec(line) ?? assert.fail(`no sample: ${line}`);
    const type = types.get(family);
    const own = type === 'histogram' ? [`${family}_bucket`, `${family}_sum`, `${family}_count`] : [family];
    assert.ok(own.includes(name), `${name} stands among the samples of ${family}`);
    if (type === 'counter') assert.match(name, /_total$/);
    samples.push({ name, labels: readLabels(labels), value: readNumber(number) });
  }
  const keys = samples.map(keyOf);
  assert.equal(new Set(keys).size, keys.length, 'a sample stands there twice');
  for (const [name, type] of types) if (type === 'histogram') checkHistogram(name, samples);
  return { samples, value: (name, labels) => samples[keys.indexOf(keyOf({ name, labels }))]?.value };
}

function keyOf({ name, labels }: Pick<ExposedSample, 'name' | 'labels'>): string {
  return JSON.stringify([name, Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))]);
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let left = text;
  while (left !== '') {
    const [whole, name = '', value = ''] = labelForm.exec(left) ?? assert.fail(`no labels: ${text}`);
    assert.ok(!(name in labels), `the label ${name} stands there twice`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
    left = left.slice(whole.length);
  }
  return labels;
}

function readNumber(text: string): number {
  if (/^[+-]Inf$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (text === 'NaN') return Number.NaN;
  assert.match(text, /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/);
  return Number(text);
}

/** Buckets grow to the one without an end, which is the count. */
function checkHistogram(name: string, samples: readonly ExposedSample[]): void {
  const series = Map.groupBy(
    samples.filter((sample) => sample.name === `${name}_bucket`),
    ({ labels }) => JSON.stringify(Object.fromEntries(Object.entries(labels).filter(([label]) => label !== 'le'))),
  );
  for (const [others, buckets] of series) {
    const bounds = buckets.map(({ labels: { le = '' } }) => readNumber(le));
    assert.deepEqual(
      bounds,
      bounds.toSorted((a, b) => a - b),
    );
    assert.equal(bounds.at(-1), Infinity);
    for (const [at, { value }] of buckets.entries()) assert.ok(value >= (buckets[at - 1]?.value ?? 0), others);
    const key = keyOf({ name: `${name}_count`, labels: JSON.parse(others) as Record<string, string> });
    const count = samples.find((sample) => keyOf(sample) === key);
    assert.equal(count?.value, buckets.at(-1)?.value);
  }
}
