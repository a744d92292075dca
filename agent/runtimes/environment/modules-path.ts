// How a command finds the modules that a user has beside a script: a variable names their directory.
export const modulesVariable = 'ROPEWALK_MODULES';

/**
 * A file of each environment's packages. Modules come first on the path, as the directory of a script does: they hide an installed package
 * of the same name.
 */
export const modulesPathFile: Readonly<Record<string, string>> = {
  'ropewalk-modules.pth': `import os, sys; "${modulesVariable}" in os.environ and sys.path.insert(0, os.environ["${modulesVariable}"])\n`,
};
