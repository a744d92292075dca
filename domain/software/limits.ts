// Limits of Python environments.

/** Of one environment: a whole Python environment has some hundred packages, a few of which are a user's own. */
export const maxRequirements = 1_000;
export const maxPackageFiles = 200;
export const maxIndexes = 10;
/** Packages that an environment names as left out: a whole conda distribution has this many. */
export const maxLeftOut = 300;

/** Names of environments in a workspace. */
export const maxNamedEnvironments = 1_000;
