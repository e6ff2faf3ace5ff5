import { Observable } from '../live/observable.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'sallyport.theme';

export const theme = new Observable<Theme>(themes.find((each) => each === localStorage.getItem(key)) ?? 'system');

theme.subscribe(apply);

/** Also before anything is drawn, so that nothing flashes. */
export function apply(): void {
  const chosen = theme.get();
  localStorage.setItem(key, chosen);
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
}
