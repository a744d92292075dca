/** Equal to package.json, as a test checks: the program must not read files to print its version. */
export const version = '0.1.0';
