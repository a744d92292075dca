// The variable with the directory of the modules beside a user's script.
export const modulesVariable = 'ROPEWALK_MODULES';

/**
 * A file in each environment's package directory. The modules are first on the path, like a script's directory: they hide an
 * installed package of the same name.
 */
export const modulesPathFile: Readonly<Record<string, string>> = {
  'ropewalk-modules.pth': `import os, sys; "${modulesVariable}" in os.environ and sys.path.insert(0, os.environ["${modulesVariable}"])\n`,
};
