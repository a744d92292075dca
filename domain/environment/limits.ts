// Limits of environments that instances share through the object store.

/** Maximum number of recorded builds in a workspace; beyond it each instance builds its own environment. */
export const maxSharedBuilds = 1_000;
/** A silent builder loses its lease after this time, and another instance builds. The builder renews four times as often. */
export const buildLeaseMs = 40_000;
/** Bounds of the pause between a waiting instance's requests; the pause grows with the duration of the build. */
export const minWaitPauseMs = 500;
export const maxWaitPauseMs = 3_000;
/** How long an instance waits for another one's build before it builds its own: longer than most builds. */
export const maxBuildWaitMs = 10 * 60_000;
/** After a failed build, all other instances build their own environment for this long, so none waits for one failure after another. */
export const failedBuildMs = 60_000;
/** An environment that is too large to be stored is not packed again for this long. */
export const tooLargeMs = 86_400_000;
/** Unpinned requirements are resolved again after this time, as they would be without an archive. */
export const unpinnedArchiveMs = 7 * 86_400_000;
/** Minimum time between two updates of an archive's last use. */
export const noteUseEveryMs = 3_600_000;
/** Days after which an archive without downloads is deleted, unless the operator sets another number. */
export const defaultArchiveDays = 30;
/** Maximum unpacked size of an environment: a small archive must not fill an instance's disk. */
export const maxUnpackedBytes = 64 * 1024 ** 3;
