// Limits of Python environments.

/** Limits of one environment: a whole Python environment has some hundred packages, a few of which are the user's own. */
export const maxRequirements = 1_000;
export const maxPackageFiles = 200;
export const maxIndexes = 10;
/** Maximum number of packages that an environment lists as left out: a whole conda distribution has this many. */
export const maxLeftOut = 300;

/** Maximum number of named environments in a workspace. */
export const maxNamedEnvironments = 1_000;
