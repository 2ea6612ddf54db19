/** Ids that are safe in a log and in a response header. */
const wellFormed = /^[\w.~+/=:-]{1,128}$/;

/** Returns the id that a proxy or a client sent, or a generated one if that is not well-formed. */
export const requestIdOf = (sent: string | undefined): string =>
  sent !== undefined && wellFormed.test(sent) ? sent : crypto.randomUUID();
