/** What may go into a log and a response header as it is. */
const wellFormed = /^[\w.~+/=:-]{1,128}$/;

/** The id that a proxy or a client sent with a request, or a new one where it is not well-formed. */
export const requestIdOf = (sent: string | undefined): string =>
  sent !== undefined && wellFormed.test(sent) ? sent : crypto.randomUUID();
