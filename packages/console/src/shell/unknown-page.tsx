import { Empty, PageHead } from './parts.tsx';
import { linkTo } from './use-route.ts';

/** An address that leads nowhere says so. */
export function UnknownPage() {
  return (
    <>
      <PageHead title="Nothing is here" />
      <Empty title="This address leads nowhere">
        <p>The link may be of another version of the console, or a letter is missing.</p>
        <p>
          <a href={linkTo('home')}>Go home</a>, or choose a page from the bar.{' '}
          <span className="keys-hint">
            With <kbd>Ctrl</kbd> <kbd>K</kbd> you can also type where you want to go.
          </span>
        </p>
      </Empty>
    </>
  );
}
