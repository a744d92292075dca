/** Kept equal to package.json by a test: the program must not read files to say its version. */
export const version = '0.1.0';
