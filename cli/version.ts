/** A test keeps it equal to package.json: the program must not read files to print its version. */
export const version = '0.1.0';
