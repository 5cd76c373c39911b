/** The path below which all operations are. */
export const apiPath = '/api/v1';
