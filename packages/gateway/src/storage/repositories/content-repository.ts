/** A session put or received this content, and may use it from now on. */
export interface ContentGrant {
  readonly sessionId: string;
  /** BLAKE3, 64 hexadecimal digits. */
  readonly hash: string;
  readonly sizeBytes: number;
  readonly nowMs: number;
}

export interface KnownContent {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly lastUsedMs: number;
  /** Something that lasts points to it, such as an artifact. */
  readonly referenced: boolean;
}

export interface Artifact {
  readonly id: string;
  readonly contentHash: string;
  readonly sizeBytes: number;
  readonly category: string;
  /** `key=value` each. */
  readonly metadata: readonly string[];
  readonly sessionId: string;
  readonly agent: string;
  readonly publishedAtMs: number;
}

/** What is known about content; the bytes are in the content store. */
export interface ContentRepository {
  readonly recordContent: (grant: ContentGrant) => Promise<void>;
  readonly mayUseContent: (sessionId: string, hash: string) => Promise<boolean>;
  readonly listContent: () => Promise<readonly KnownContent[]>;
  /** Forgets unreferenced content. False when something references it. */
  readonly forgetContent: (hash: string) => Promise<boolean>;
  /** Publishing is final: an id that is taken stays what it was. */
  readonly publishArtifact: (artifact: Artifact) => Promise<'published' | 'exists'>;
  readonly findArtifact: (id: string) => Promise<Artifact | undefined>;
  /** Newest first. Absent filters match all. */
  readonly listArtifacts: (filter: {
    readonly category?: string;
    readonly sessionId?: string;
  }) => Promise<readonly Artifact[]>;
}
