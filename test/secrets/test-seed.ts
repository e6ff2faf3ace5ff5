import { randomBytes } from 'node:crypto';

/**
 * Another one in each run, because a leak depends on the secret. What fails names it, and fails again with
 * `SALLYPORT_TEST_SEED=…`.
 */
export const testSeed = process.env['SALLYPORT_TEST_SEED'] ?? randomBytes(6).toString('hex');

/** For the message of an assertion. */
export const repeatIt = `repeat it with SALLYPORT_TEST_SEED=${testSeed}`;
