import { spellHidden } from '@sallyport/contract/visible-text';

/** Text from agents, tools and files: only ever text, and nothing in it hides. */
export function Visible({ text }: { readonly text: string }) {
  const pieces = spellHidden(text);
  return (
    <bdi>
      {pieces.map(({ text: shown, isSpelled }, at) =>
        isSpelled ? (
          <span key={at} className="spelled" title="Characters that cannot be seen">
            {shown}
          </span>
        ) : (
          shown
        ),
      )}
    </bdi>
  );
}
