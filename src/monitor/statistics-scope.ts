/** The name of the request decorator for the calls that the token may see. */
export const statisticsScope = 'statisticsScope';
