// Times in requests.

/** A text is sent unchanged: an RFC 3339 time, or an age. */
export const timeText = (time: Date | string): string => (typeof time === 'string' ? time : time.toISOString());
