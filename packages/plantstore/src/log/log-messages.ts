/** Messages of the log of which a reader of it can make use: the server accepts requests, stops, or has other tokens. */
export const acceptingMessage = 'accepting plants';
export const stoppingMessage = 'stopping: finishing the requests in flight';
export const rereadMessage = 'the tokens were reread';
export const notRereadMessage = 'the tokens could not be reread; the previous ones stay in use';
