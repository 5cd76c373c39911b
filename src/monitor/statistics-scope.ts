/** Under this name a request carries whose calls it may see. */
export const statisticsScope = 'statisticsScope';
