/** The tables of the two ends may differ from here on: nothing more can be read on the connection. */
export class CompressionError extends Error {
  override readonly name = 'CompressionError';
}
