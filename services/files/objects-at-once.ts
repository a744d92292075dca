/** Maximum concurrent object store requests of one API request. */
export const objectsAtOnce = 16;
