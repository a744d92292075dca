// Limits of environments that instances share through the object store.

/** Builds that a workspace keeps a record of; beyond it each instance builds by itself. */
export const maxSharedBuilds = 1_000;
/** A builder that says nothing for so long is taken for dead, and another instance builds. It renews four times as often. */
export const buildLeaseMs = 40_000;
/** How often an instance that waits asks again: soon at first, and less often the longer the build takes. */
export const minWaitPauseMs = 500;
export const maxWaitPauseMs = 3_000;
/** How long an instance waits for another one's build before it builds by itself: longer than most builds. */
export const maxBuildWaitMs = 10 * 60_000;
/** After a build has failed every other instance builds by itself for so long: none waits for one failure after the other. */
export const failedBuildMs = 60_000;
/** An environment that is too large to be stored is not packed again for so long. */
export const tooLargeMs = 86_400_000;
/** What is not pinned is resolved anew after this time, as it would be without an archive. */
export const unpinnedArchiveMs = 7 * 86_400_000;
/** An archive that is used is noted as used at most this often. */
export const noteUseEveryMs = 3_600_000;
/** Days after which an archive that no instance has fetched is deleted, unless the operator says otherwise. */
export const defaultArchiveDays = 30;
/** Bytes of an environment unpacked: a small archive must not fill the disk of an instance. */
export const maxUnpackedBytes = 64 * 1024 ** 3;
