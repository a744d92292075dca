/** Of the API, the Temporal workers and the operator's commands alike, where neither TEMPORAL_NAMESPACE nor a profile names one. */
const usualNamespace = 'ropewalk';

/** A variable that is set to nothing, as compose files do, is not set. */
export const namespaceOf = (named: string | undefined): string => named || usualNamespace;
