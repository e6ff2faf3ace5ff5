import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { logIn, takeCode } from './daemon/log-in.ts';
import { apply as applyTheme } from './shell/theme.ts';
import './style/base.css';
import './style/shell.css';
import './style/pages.css';
import './style/inbox.css';
import './style/calls.css';
import './style/home.css';
import './style/plots.css';
import './style/product.css';

applyTheme();
const root = createRoot(document.getElementById('root') as HTMLElement);

async function start(): Promise<void> {
  const code = takeCode();
  const loginProblem = code === undefined ? undefined : await logIn(code);
  root.render(<App loginProblem={loginProblem ?? ''} />);
}

// A new link may be opened in a tab that shows the console already.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#code=')) void start();
});
void start();
