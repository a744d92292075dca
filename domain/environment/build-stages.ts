// The stages of an environment build, shown to users who wait for it.
export const buildStages = ['tools', 'download', 'install', 'compile', 'pack'] as const;
export type BuildStage = (typeof buildStages)[number];
