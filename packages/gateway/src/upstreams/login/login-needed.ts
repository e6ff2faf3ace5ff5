import { ToolFailure } from '../../call/tool.ts';
import { makeVisible, wholeText } from '@sallyport/contract';

/** A person must log in at the server. Nothing else helps, so the gate tries nothing else meanwhile. */
export class LoginNeeded extends ToolFailure {
  constructor(upstream: string, why: string) {
    const reason = makeVisible(wholeText(why, 300));
    super('UPSTREAM_FAILED', `The upstream server ${upstream} ${reason}.`, {
      forOperators: `Log in with \`sallyport upstream login ${upstream}\`.`,
    });
    this.name = 'LoginNeeded';
  }
}
