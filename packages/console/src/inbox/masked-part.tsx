import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import type { MaskedPlace, RevealedParts } from './use-revealed.ts';

export interface MaskedPartProps {
  readonly place: MaskedPlace;
  readonly revealed: RevealedParts;
}

/** A secret in an effect: how long it is and which, until the person who decides asks to see it. */
export function MaskedPart({ place, revealed }: MaskedPartProps) {
  const { name, characters, rest } = place.secret;
  const value = revealed.valueOf(place);
  if (value !== undefined) {
    return (
      <>
        <span className="revealed">
          <Visible text={value} />
        </span>{' '}
        <button type="button" className="mask" onClick={() => revealed.hide(place)}>
          Hide
        </button>
      </>
    );
  }
  const title = rest ? 'The rest of what would happen.' : 'It is masked. That you look at it stands in the log.';
  return (
    <button type="button" className="mask" title={title} onClick={() => revealed.ask(place)}>
      {rest ? 'the rest' : name === '' ? 'masked' : <Visible text={name} />}, {formatCount(characters, 'character')} ·{' '}
      {rest ? 'show' : 'reveal'}
    </button>
  );
}
