// What the instance that builds an environment for others does, for those who wait for it.
export const buildStages = ['tools', 'download', 'install', 'compile', 'pack'] as const;
export type BuildStage = (typeof buildStages)[number];
