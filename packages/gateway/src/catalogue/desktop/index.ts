import type { AnyTool } from '../../call/tool.ts';
import { appsOpen } from './apps-open.ts';
import { browserOpenUrl } from './browser-open-url.ts';
import { clipboardTools } from './clipboard.ts';
import type { DesktopEnvironment } from './desktop-session.ts';
import { notifySend } from './notify-send.ts';

/** The desktop of the person who started the daemon, and a browser without one. */
export function desktopTools(environment: DesktopEnvironment): readonly AnyTool[] {
  return [...clipboardTools(environment), notifySend(environment), appsOpen(environment), browserOpenUrl()];
}
