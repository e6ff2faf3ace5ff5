import { prettyJson, readJson } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

interface Parameter {
  readonly type?: unknown;
  readonly description?: unknown;
  readonly enum?: unknown;
  readonly default?: unknown;
}

/** What a tool takes, one line an argument. Everything in it may have been chosen by the one who wrote the tool. */
export function Parameters({ schemaJson, name }: { readonly schemaJson: string; readonly name: string }) {
  const schema = readJson(schemaJson) as { readonly properties?: unknown; readonly required?: unknown } | null;
  const properties = typeof schema === 'object' ? (schema?.properties ?? {}) : {};
  const required = Array.isArray(schema?.required) ? (schema.required as readonly unknown[]) : [];
  const parameters = Object.entries(properties as Readonly<Record<string, Parameter | null>>);
  return (
    <>
      {parameters.length === 0 && <p className="muted">It takes no arguments.</p>}
      <dl className="facts" aria-label={`Arguments of ${name}`}>
        {parameters.map(([parameter, about]) => (
          <div key={parameter} className="fact">
            <dt>
              <code>
                <Visible text={parameter} />
              </code>
            </dt>
            <dd>
              {typeof about?.description === 'string' && <Visible text={about.description} />}{' '}
              <span className="muted">
                <Visible text={tellKind(about ?? {}, required.includes(parameter))} />
              </span>
            </dd>
          </div>
        ))}
      </dl>
      <details className="fold">
        <summary>Schema</summary>
        <pre className="json" tabIndex={0} aria-label={`Schema of ${name}`}>
          <Visible text={prettyJson(schemaJson)} />
        </pre>
      </details>
    </>
  );
}

function tellKind({ type, enum: values, default: usual }: Parameter, isRequired: boolean): string {
  const kind = Array.isArray(values)
    ? `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
    : Array.isArray(type)
      ? type.join(' or ')
      : typeof type === 'string'
        ? type
        : 'anything';
  const more = isRequired ? 'required' : usual === undefined ? '' : `otherwise ${JSON.stringify(usual)}`;
  return [kind, more].filter(Boolean).join(', ');
}
