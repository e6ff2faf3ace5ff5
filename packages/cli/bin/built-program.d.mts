export const recordFile: string;
export function findMainModule(environment?: Readonly<Record<string, string | undefined>>): string;
export function readRecord():
  | {
      readonly folder: string;
      /** What it was built from. Absent in a package. */
      readonly sources?: Readonly<Record<string, string>>;
      /** The dependencies that are part of it. Absent in a package. */
      readonly packages?: readonly string[];
    }
  | undefined;
