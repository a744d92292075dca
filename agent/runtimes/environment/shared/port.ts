// What an instance asks the control plane about an environment that it does not have, and says while it builds it.
import type {
  BuildArchive,
  BuildArchiveAnswer,
  BuildClaimAnswer,
  BuildProgress,
} from '../../../../schema/shared-builds.ts';
import type { Place } from '../../../files/http-file.ts';

/** Each is null when no answer came in time: then the instance builds by itself. */
export interface SharedBuilds {
  claim(ask: { hash: string; platform: string; damaged: string | null }): Promise<BuildClaimAnswer | null>;
  /** The builder is at work, or will store no archive. Never rejects. */
  progress(build: string, said: BuildProgress): Promise<void>;
  announce(build: string, archive: BuildArchive): Promise<BuildArchiveAnswer | null>;
  /** Of an archive that goes through the API. */
  place(build: string, sha256: string): Place;
  /** For the events of the cluster. */
  note(note: SharedNote): void;
}

export interface SharedNote {
  code: 'ENVIRONMENT_BUILT' | 'ENVIRONMENT_DOWNLOADED' | 'ENVIRONMENT_NOT_SHARED';
  text: string;
}
