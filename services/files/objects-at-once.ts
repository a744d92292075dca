/** Requests to the object store of one request to us at a time. */
export const objectsAtOnce = 16;
