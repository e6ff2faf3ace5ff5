import { ProgramNotStarted } from '@sallyport/sandbox';

/** The server ended by itself. In a file of its own, so that naming it does not load the protocol. */
export class ServerEnded extends ProgramNotStarted {
  readonly ending: string;
  /** The end of what it wrote to standard error, without secrets. */
  readonly stderr: string;

  constructor(ending: string, stderr: string) {
    super('EXECUTION_ERROR', stderr === '' ? ending : `${ending}: ${stderr}`);
    this.ending = ending;
    this.stderr = stderr;
  }
}
