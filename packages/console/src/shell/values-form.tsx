import { Visible } from '../text/visible.tsx';

interface ValuesFormProps {
  readonly value: unknown;
  readonly label: string;
  /** Absent: nobody has to have seen each field. */
  readonly rowId?: string;
}

/** Arguments as a form that is filled in: one field a line. What is not an object is shown as it is. */
export function ValuesForm({ value, label, rowId }: ValuesFormProps) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return (
      <pre className="json" tabIndex={0} aria-label={label}>
        <Visible text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
      </pre>
    );
  }
  const fields = Object.entries(value);
  if (fields.length === 0) return <p className="muted">It has no arguments.</p>;
  return (
    <dl className="values" aria-label={label}>
      {fields.map(([name, field]) => (
        <div key={name} className="value" {...(rowId === undefined ? {} : { 'data-row': `${rowId} ${name}` })}>
          <dt>
            <Visible text={name} />
          </dt>
          <dd className={`value-${kindOf(field)}`}>
            <Value value={field} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { readonly value: unknown }) {
  if (typeof value === 'string') return value === '' ? <span className="muted">empty</span> : <Visible text={value} />;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) {
    return <span className="muted">none</span>;
  }
  if (isTexts(value)) {
    return (
      <ul>
        {value.map((each, at) => (
          <li key={at}>
            <Visible text={each} />
          </li>
        ))}
      </ul>
    );
  }
  return <Visible text={JSON.stringify(value, null, 2)} />;
}

function kindOf(value: unknown): string {
  if (isTexts(value)) return 'list';
  return typeof value === 'string' && value.includes('\n') ? 'text' : 'short';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}
