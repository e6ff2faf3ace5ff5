import type { MaskedSecret } from '../daemon/messages.ts';
import { Visible } from '../text/visible.tsx';

export interface MaskedPartProps {
  readonly secret: MaskedSecret;
  /** Undefined: it is masked. */
  readonly value: string | undefined;
  readonly onAsk: (secret: MaskedSecret) => void;
  readonly onHide: (secret: MaskedSecret) => void;
}

/** A secret in an effect: how long it is and which, until whoever decides asks to see it. */
export function MaskedPart({ secret, value, onAsk, onHide }: MaskedPartProps) {
  const { name, characters } = secret;
  if (value !== undefined) {
    return (
      <>
        <span className="revealed">
          <Visible text={value} />
        </span>{' '}
        <button type="button" className="mask" onClick={() => onHide(secret)}>
          Hide
        </button>
      </>
    );
  }
  return (
    <button
      type="button"
      className="mask"
      title="A secret. That you look at it stands in the log."
      onClick={() => onAsk(secret)}
    >
      {name === '' ? 'secret' : <Visible text={name} />}, {characters} characters · reveal
    </button>
  );
}
