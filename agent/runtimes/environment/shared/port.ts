// The control plane's interface for shared environments: an instance requests one, and reports its progress while it builds it.
import type {
  BuildArchive,
  BuildArchiveAnswer,
  BuildClaimAnswer,
  BuildProgress,
} from '../../../../schema/shared-builds.ts';
import type { Place } from '../../../files/http-file.ts';

/** Each returns null without an answer in time: the instance then builds by itself. */
export interface SharedBuilds {
  claim(ask: { hash: string; platform: string; damaged: string | null }): Promise<BuildClaimAnswer | null>;
  /** Reports that the builder is at work, or will store no archive. Never rejects. */
  progress(build: string, said: BuildProgress): Promise<void>;
  announce(build: string, archive: BuildArchive): Promise<BuildArchiveAnswer | null>;
  /** The place of an archive that passes through the API. */
  place(build: string, sha256: string): Place;
  /** For the events of the cluster. */
  note(note: SharedNote): void;
}

export interface SharedNote {
  code: 'ENVIRONMENT_BUILT' | 'ENVIRONMENT_DOWNLOADED' | 'ENVIRONMENT_NOT_SHARED';
  text: string;
}
