import { EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE } from 'js-yaml';
import type { AliasEvent, Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml';
import type { YamlEntry, YamlNode, YamlScalar } from './yaml-node.ts';

/** Something that is not allowed in the text, although it can be read. */
export interface Objection {
  readonly at: number;
  readonly message: string;
}

export interface ParsedYaml {
  /** Absent: the text says nothing. */
  readonly root?: YamlNode;
  readonly objections: readonly Objection[];
}

type NodeEvent = SequenceEvent | MappingEvent | ScalarEvent | AliasEvent;

const deepest = 100;

/**
 * One YAML 1.2 document, with the places of its parts. Whatever makes a text mean something else than it shows is
 * objected to: names for parts used elsewhere, types by tag, directives, a key twice. Throws YAMLException when the text
 * is no YAML.
 */
export function parseYaml(text: string): ParsedYaml {
  const builder = new TreeBuilder(text, parseEvents(text, { maxDepth: deepest }));
  return builder.build();
}

/** Puts the tree together from what the parser met, one after the other. */
class TreeBuilder {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #objections: Objection[] = [];
  #next = 0;
  /** Where the part before ended: the place of something that is not there. */
  #reached = 0;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  build(): ParsedYaml {
    const document = this.#events[this.#next++];
    if (document?.type !== EVENT_ID.DOCUMENT) return { objections: [] };
    const root = this.#takeNode();
    if (document.explicitStart && /^%/m.test(this.#text.slice(0, root.start))) {
      this.#object(root.start, 'directives ("%…") are not allowed');
    }
    this.#next++;
    if (this.#next < this.#events.length) {
      const at = this.#text.indexOf('\n---', this.#reached);
      this.#object(
        at < 0 ? this.#reached : at + 1,
        'a second document ("---") starts here; one file holds one document',
      );
    }
    return { root, objections: this.#objections };
  }

  #takeNode(): YamlNode {
    const event = this.#events[this.#next++] as NodeEvent;
    this.#checkProperties(event);
    if (event.type === EVENT_ID.SCALAR) return this.#readScalar(event);
    // An alias was objected to.
    if (event.type === EVENT_ID.ALIAS) {
      return { kind: 'scalar', start: event.anchorStart - 1, end: event.anchorEnd, value: null };
    }
    this.#reached = event.start;
    return event.type === EVENT_ID.SEQUENCE ? this.#takeList(event.start) : this.#takeMap(event.start);
  }

  #takeList(start: number): YamlNode {
    const items: YamlNode[] = [];
    while (!this.#isAtEnd()) items.push(this.#takeNode());
    return { kind: 'list', start, end: this.#reached, items };
  }

  #takeMap(start: number): YamlNode {
    const entries: YamlEntry[] = [];
    const names = new Set<string>();
    while (!this.#isAtEnd()) {
      const key = this.#takeKey();
      const value = this.#takeNode();
      if (names.has(key.value)) this.#object(key.start, 'this key stands here twice');
      names.add(key.value);
      entries.push({ name: key.value, key, value });
    }
    return { kind: 'map', start, end: this.#reached, entries };
  }

  /** Text, whatever it looks like. */
  #takeKey(): YamlScalar & { readonly value: string } {
    const event = this.#events[this.#next] as NodeEvent;
    const { start, end, kind } = this.#takeNode();
    if (kind !== 'scalar') this.#object(start, 'a key must be text');
    return {
      kind: 'scalar',
      start,
      end,
      value: event.type === EVENT_ID.SCALAR ? getScalarValue(this.#text, event) : '',
    };
  }

  #isAtEnd(): boolean {
    if (this.#events[this.#next]?.type !== EVENT_ID.POP) return false;
    this.#next++;
    return true;
  }

  #readScalar(event: ScalarEvent): YamlScalar {
    const isAbsent = event.valueStart < 0;
    const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    const start = isAbsent ? this.#reached : event.valueStart - (isQuoted ? 1 : 0);
    const end = isAbsent ? this.#reached : event.valueEnd + (isQuoted ? 1 : 0);
    this.#reached = end;
    const text = getScalarValue(this.#text, event);
    return { kind: 'scalar', start, end, value: event.style === SCALAR_STYLE.PLAIN ? resolvePlain(text) : text };
  }

  #checkProperties(event: NodeEvent): void {
    if (event.type === EVENT_ID.ALIAS) {
      this.#object(event.anchorStart - 1, 'aliases ("*name") are not allowed; quote the text if it is a pattern');
      return;
    }
    if (event.anchorStart >= 0) this.#object(event.anchorStart - 1, 'anchors ("&name") are not allowed');
    if (event.tagStart >= 0) this.#object(event.tagStart, 'tags ("!…") are not allowed');
  }

  #object(at: number, message: string): void {
    this.#objections.push({ at, message });
  }
}

const words = new Map<string, boolean | null>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);

/** What text without quotes means in the core schema of YAML 1.2. */
function resolvePlain(text: string): YamlScalar['value'] {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  if (/^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0x[0-9a-fA-F]+|0o[0-7]+)$/.test(text)) {
    const number = Number(text);
    // What is too large for a number is no other number.
    return Number.isFinite(number) ? number : text;
  }
  if (/^\.(?:nan|NaN|NAN)$/.test(text)) return Number.NaN;
  const infinite = /^([-+]?)\.(?:inf|Inf|INF)$/.exec(text);
  if (infinite === null) return text;
  return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
