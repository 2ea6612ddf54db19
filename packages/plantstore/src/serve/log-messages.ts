// Tests wait for these messages of the log. A changed one fails only the test that states its text.
export const acceptingMessage = 'accepting plants';
export const stoppingMessage = 'stopping: finishing the requests in flight';
export const rereadMessage = 'the tokens were reread';
export const notRereadMessage = 'the tokens could not be reread; the previous ones stay in use';
