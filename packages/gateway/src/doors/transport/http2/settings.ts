import {
  ConnectionError,
  defaultFrameBytes,
  errorCodes,
  largestFrameBytes,
  largestWindowBytes,
  settingIds,
} from './frames.ts';

/** What the peer asks for. Absent: it stays as it was. */
export interface PeerSettings {
  readonly windowBytes?: number;
  readonly tableBytes?: number;
}

/** Throws ConnectionError. */
export function readSettings(payload: Buffer): PeerSettings {
  if (payload.length % 6 !== 0) throw new ConnectionError(errorCodes.frameSize, 'a setting is not whole');
  const found: { -readonly [Name in keyof PeerSettings]: PeerSettings[Name] } = {};
  for (let at = 0; at < payload.length; at += 6) {
    const value = payload.readUInt32BE(at + 2);
    switch (payload.readUInt16BE(at)) {
      case settingIds.tableBytes:
        // The smallest counts: from then on our table must not have been larger.
        found.tableBytes = Math.min(value, found.tableBytes ?? value);
        break;
      case settingIds.enablePush:
        check(value <= 1, errorCodes.protocol, 'push is on or off');
        break;
      case settingIds.windowBytes:
        check(value <= largestWindowBytes, errorCodes.flowControl, 'too wide a window');
        found.windowBytes = value;
        break;
      case settingIds.frameBytes:
        check(value >= defaultFrameBytes && value <= largestFrameBytes, errorCodes.protocol, 'no such frame size');
        break;
      // What is unknown is for others.
      default:
    }
  }
  return found;
}

function check(isRight: boolean, code: typeof errorCodes.protocol | typeof errorCodes.flowControl, why: string): void {
  if (!isRight) throw new ConnectionError(code, why);
}

/** What we ask for, as the payload of a frame. */
export function describeSettings(of: { readonly maxStreams: number; readonly maxListBytes: number }): Buffer {
  const payload = Buffer.alloc(12);
  payload.writeUInt16BE(settingIds.maxStreams, 0);
  payload.writeUInt32BE(of.maxStreams, 2);
  payload.writeUInt16BE(settingIds.maxListBytes, 6);
  payload.writeUInt32BE(of.maxListBytes, 8);
  return payload;
}
