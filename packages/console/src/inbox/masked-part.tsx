import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { placeKey } from './use-revealed.ts';
import type { MaskedPlace, RevealedParts } from './use-revealed.ts';

export interface MaskedPartProps {
  readonly place: MaskedPlace;
  readonly revealed: RevealedParts;
}

export interface RevealedPartProps extends MaskedPartProps {
  /** All of the value, or a piece of a long one. */
  readonly text: string;
  /** Another piece of the same value follows. */
  readonly goesOn: boolean;
  /** Pieces of the value in the same place have the same name here. */
  readonly copy: string;
}

/** What was behind a mark, or a piece of it. */
export function RevealedPart({ text, goesOn, place, revealed, copy }: RevealedPartProps) {
  return (
    <>
      <span className="revealed" data-of={placeKey(place)} data-copy={copy}>
        <Visible text={text} />
      </span>
      {!goesOn && (
        <>
          {' '}
          <button type="button" className="mask" onClick={() => revealed.hide(place)}>
            Hide
          </button>
        </>
      )}
    </>
  );
}

/** A secret in an effect: how long it is and which, until the person who decides asks to see it. */
export function MaskedPart({ place, revealed }: MaskedPartProps) {
  const { name, characters, rest } = place.secret;
  const title = rest ? 'The rest of what would happen.' : 'It is masked. The log records that you look at it.';
  return (
    <button type="button" className="mask" title={title} onClick={() => revealed.ask(place)}>
      {rest ? 'the rest' : name === '' ? 'masked' : <Visible text={name} />}, {formatCount(characters, 'character')} ·{' '}
      {rest ? 'show' : 'reveal'}
    </button>
  );
}
