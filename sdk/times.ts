// Times in requests.

/** A text stays as it is: an RFC 3339 time, or how long ago. */
export const timeText = (time: Date | string): string => (typeof time === 'string' ? time : time.toISOString());
