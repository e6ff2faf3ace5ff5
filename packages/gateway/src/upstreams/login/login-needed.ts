import { ToolFailure } from '../../call/tool.ts';
import { makeVisible, wholeText } from '@sallyport/contract';

/** The server wants a person to log in. Nothing but that helps, so nothing else is tried meanwhile. */
export class LoginNeeded extends ToolFailure {
  constructor(upstream: string, why: string) {
    const reason = makeVisible(wholeText(why, 300));
    super('UPSTREAM_FAILED', `The upstream server ${upstream} ${reason}.`, {
      forOperators: `Log in with \`sallyport upstream login ${upstream}\`.`,
    });
    this.name = 'LoginNeeded';
  }
}
